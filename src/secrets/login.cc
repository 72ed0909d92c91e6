// SPDX-License-Identifier: MIT
#include "secrets/login.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <optional>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"

namespace secrets {
namespace {

using base::Error;
using base::Result;
using base::Status;
using credentials::Credential;

constexpr size_t kLargestLoginFile = 1u << 20;
constexpr unsigned kPermissions = 07777;

std::string lock_of(const Credential& credential, const Surroundings& surroundings) {
    std::string path = login_file(credential, surroundings);
    if (credential.locks_directory) path.resize(path.rfind('/'));
    return path + ".lock";
}

// The lock of a process that has ended, or hangs.
bool is_stale(const std::string& lock) {
    struct stat status;
    return ::stat(lock.c_str(), &status) == 0 && status.st_mtime + kLockCounts.count() < std::time(nullptr);
}

// The file with its new content. A link is not followed: what it leads to may be the jail's.
Status replace(const std::string& path, std::string_view content, unsigned mode) {
    struct stat status;
    const bool is_there = ::lstat(path.c_str(), &status) == 0;
    if (is_there && !S_ISREG(status.st_mode))
        return Error{.what = base::format("{} is not a file", base::printable(path)),
                     .advice = "put the file of the log-in in its place"};
    Status made = base::make_directories(path.substr(0, path.rfind('/')));
    return made ? base::write_file_atomically(path, content, mode) : made;
}

bool has_login(const std::string& path, const std::string& content, std::span<const StoredToken> tokens) {
    const std::string name = path.substr(path.rfind('/') + 1);
    return std::ranges::any_of(tokens, [&](const StoredToken& token) {
        std::optional<std::string> value =
            credentials::text_of_field(name, content, token.credential->fields.front());
        const bool has_value = value && !value->empty();
        if (value) base::wipe(*value);
        return has_value;
    });
}

}  // namespace

std::string login_file(const Credential& credential, const Surroundings& surroundings) {
    return credentials::own_file(credential.files.front(), surroundings.home.str(), surroundings.environment);
}

Status lock_login(const Credential& credential, const Surroundings& surroundings) {
    constexpr std::chrono::milliseconds kPause{50};
    const std::string lock = lock_of(credential, surroundings);
    const auto end = std::chrono::steady_clock::now() + kLongestWaitForLock;
    (void)base::make_directories(lock.substr(0, lock.rfind('/')));
    for (;;) {
        if (::mkdir(lock.c_str(), 0700) == 0) return base::success();
        if (errno != EEXIST) return base::system_error("make the lock " + lock, errno);
        if (is_stale(lock) && ::rmdir(lock.c_str()) == 0) continue;
        if (std::chrono::steady_clock::now() >= end)
            return Error{.what = base::format("another program renews the log-in: {} is there", lock),
                         .advice = "try again; remove it if no agent runs"};
        std::this_thread::sleep_for(kPause);
    }
}

void unlock_login(const Credential& credential, const Surroundings& surroundings) {
    ::rmdir(lock_of(credential, surroundings).c_str());
}

Status store_login(std::span<const StoredToken> tokens, LoginAct act, const credentials::Issue& issue,
                   const Surroundings& surroundings) {
    if (tokens.empty()) return base::success();
    const std::string path = login_file(*tokens.front().credential, surroundings);
    std::string content;
    unsigned mode = 0600;
    base::Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file && errno != ENOENT) return base::system_error("read " + path, errno);
    if (file) {
        if (Status outside = check_outside(surroundings, file.get(), path); !outside) return outside;
        struct stat status;
        if (::fstat(file.get(), &status) != 0) return base::system_error("read " + path, errno);
        mode = status.st_mode & kPermissions;
        Result<std::string> text = base::read_descriptor(file.get(), kLargestLoginFile);
        if (!text) return text.error();
        content = *std::move(text);
    } else if (Status outside = check_outside(surroundings, path); !outside) {
        return outside;
    }
    if (act == LoginAct::first && has_login(path, content, tokens)) {
        base::wipe(content);
        return Error{.what = base::format("{} has a log-in already", base::printable(path)),
                     .advice = "log in outside, or remove the file"};
    }
    std::vector<credentials::NewValue> values;
    for (const StoredToken& token : tokens)
        values.push_back({&token.credential->fields.front(), token.credential->stores, &token.value});
    std::optional<std::string> changed = credentials::with_new_values(std::move(content), values, issue);
    if (!changed)
        return Error{.what = base::format("{} does not have the form of a log-in", base::printable(path)),
                     .advice = "log in again outside"};
    Status stored = replace(path, *changed, mode);
    base::wipe(*changed);
    return stored;
}

Result<std::vector<StoredToken>> read_tokens(int file, std::span<const Credential> credentials) {
    Result<std::string> text = base::read_descriptor(file);
    if (!text) return text.error();
    std::vector<StoredToken> tokens;
    for (std::string_view line : base::split(*text, '\n')) {
        size_t blank = line.find(' ');
        std::optional<size_t> number = base::parse_number<size_t>(line.substr(0, blank));
        if (blank == std::string_view::npos || !number || *number >= credentials.size()) continue;
        if (!credentials[*number].is_login()) continue;
        Result<base::SecretValue> value = base::SecretValue::make(std::string(line.substr(blank + 1)));
        if (value) tokens.push_back({&credentials[*number], *std::move(value)});
    }
    base::wipe(*text);
    return tokens;
}

}  // namespace secrets
