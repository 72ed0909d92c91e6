// SPDX-License-Identifier: MIT
#include "inner/command/execute.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/text.h"
#include "inner/messages.h"

namespace inner {
namespace {

constexpr std::string_view kPathWithoutVariable = "/usr/bin:/bin";

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

std::string_view search_path(const std::vector<std::string>& environment) {
    static constexpr std::string_view kName = "PATH=";
    auto found =
        std::ranges::find_if(environment, [](const std::string& entry) { return entry.starts_with(kName); });
    return found == environment.end() ? kPathWithoutVariable : std::string_view(*found).substr(kName.size());
}

// A text file without a #! line is a script for the shell: execvp does the same, and old scripts rely on it.
void execute_by_shell(const std::string& file, const std::vector<std::string>& command,
                      char* const* environment) {
    std::vector<std::string> words = {"/bin/sh", file};
    words.insert(words.end(), command.begin() + 1, command.end());
    ::execve("/bin/sh", pointers_to(words).data(), environment);
}

// Returns why this file could not be executed.
ExecuteFailure try_file(const std::string& file, const std::vector<std::string>& command,
                        char* const* environment) {
    ::execve(file.c_str(), pointers_to(command).data(), environment);
    if (errno == ENOEXEC) execute_by_shell(file, command, environment);
    int number = errno;
    // ENOENT for a file that exists is about the interpreter or the loader that it names.
    bool is_there = number == ENOENT && ::access(file.c_str(), F_OK) == 0;
    return {number, is_there ? kStepInterpreter : kStepExecute};
}

bool may_be_elsewhere(const ExecuteFailure& failure) {
    if (failure.step == kStepInterpreter) return false;
    constexpr int kReasons[] = {ENOENT, ENOTDIR, EACCES, ESTALE, ENODEV, ETIMEDOUT};
    return std::ranges::find(kReasons, failure.number) != std::end(kReasons);
}

}  // namespace

ExecuteFailure execute(const LaunchSpec& spec) {
    std::vector<char*> environment = pointers_to(spec.environment);
    const std::string& name = spec.command.front();
    if (name.empty()) return {ENOENT, kStepExecute};
    if (name.find('/') != std::string::npos) return try_file(name, spec.command, environment.data());
    ExecuteFailure failure{ENOENT, kStepExecute};
    for (std::string_view directory : base::split(search_path(spec.environment), ':')) {
        // An empty entry is the working directory.
        std::string file = directory.empty() ? "./" + name : std::string(directory) + "/" + name;
        ExecuteFailure latest = try_file(file, spec.command, environment.data());
        if (!may_be_elsewhere(latest)) return latest;
        // EACCES in one directory helps the user more than ENOENT in the directories after it.
        if (latest.number == EACCES) failure = latest;
    }
    return failure;
}

}  // namespace inner
