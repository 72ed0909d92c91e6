// SPDX-License-Identifier: MIT
// Bash without a jail, for files that the tests wrote themselves.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "base/temporary_directory.h"
#include "import/bash.h"
#include "import/bash_values.h"

namespace testing_support {

inline constexpr const char* kHome = "/home/ann";

inline base::Result<std::string> run_plain_bash(std::string_view text,
                                                const std::vector<std::string>& arguments) {
    TemporaryDirectory directory;
    std::string file = directory / "sandbox.conf";
    if (base::Status written = base::write_file_atomically(file, std::string(text)); !written)
        return written.error();
    std::vector<std::string> words = {
        "bash", "--norc", "--noprofile", "-c", std::string(config::bash_script()), "agent-sandbox", file};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    std::string home = std::string("HOME=") + kHome;
    std::string temporary = "TMPDIR=" + directory.path();
    char user[] = "USER=ann", path[] = "PATH=/usr/bin:/bin";
    char* environment[] = {home.data(), user, path, temporary.data(), nullptr};

    int ends[2];
    if (::pipe(ends) != 0) return base::Error{.what = "no pipe"};
    pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        ::execve("/bin/bash", pointers.data(), environment);
        ::_exit(127);
    }
    ::close(ends[1]);
    base::Result<std::string> output = base::read_descriptor(ends[0]);
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return output;
}

inline config::ImportOptions options_for(bool is_admin = false) {
    return {.for_administrator = is_admin,
            .check = {},
            .home = is_admin ? "" : kHome,
            .run_bash = run_plain_bash,
            .starts = {}};
}

inline base::Result<config::Imported> import_script(std::string_view script, bool is_admin = false) {
    config::ImportOptions options = options_for(is_admin);
    return config::import_bash(script, options);
}

inline config::Imported imported(std::string_view script, bool is_admin = false) {
    base::Result<config::Imported> result = import_script(script, is_admin);
    if (!result) ADD_FAILURE() << result.error().line() << "\n" << script;
    return result ? *std::move(result) : config::Imported{};
}

// Whether the report has a line about `text` with this reason.
inline bool is_told(const config::Imported& imported, std::string_view text, std::string_view reason = "") {
    for (const config::LeftOut& left : imported.left_out) {
        if (left.text.find(text) != std::string::npos && left.reason.find(reason) != std::string::npos)
            return true;
    }
    return false;
}

}  // namespace testing_support
