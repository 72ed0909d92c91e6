// SPDX-License-Identifier: MIT
#include "secrets/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/text.h"

namespace secrets {
namespace {

using base::Error;
using base::Fd;
using base::Result;
using base::Status;

constexpr mode_t kOthers = 077;

std::string path_of(const std::string& store, std::string_view name) {
    return base::format("{}/{}", store, name);
}

Error unsafe(const std::string& path, std::string_view problem, std::string advice) {
    return Error{.what = base::format("{} {}", base::printable(path), problem), .advice = std::move(advice)};
}

Status check_private(int fd, const std::string& path, bool is_directory) {
    struct stat status;
    if (::fstat(fd, &status) != 0) return base::system_error("look at " + path, errno);
    bool is_kind = is_directory ? S_ISDIR(status.st_mode) : S_ISREG(status.st_mode);
    if (!is_kind) return unsafe(path, is_directory ? "is not a directory" : "is not a file", "remove it");
    if (status.st_uid != ::geteuid()) return unsafe(path, "belongs to another user", "remove it");
    if ((status.st_mode & kOthers) != 0) {
        return unsafe(path, "can be read or written by others",
                      base::format("replace the value where it was made, then run 'chmod {} {}'",
                                   is_directory ? "700" : "600", base::shell_word(path)));
    }
    return base::success();
}

Result<Fd> open_store(const std::string& store) {
    Fd directory(::open(store.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory) return base::system_error("open " + store, errno);
    if (Status is_private = check_private(directory.get(), store, true); !is_private)
        return is_private.error();
    return directory;
}

Fd open_value(const Fd& directory, std::string_view name, int flags) {
    return Fd(::openat(directory.get(), std::string(name).c_str(),
                       flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

// The file system may keep old blocks (a log, a snapshot): this is all that a program can do.
void overwrite(int fd) {
    struct stat status;
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return;
    std::string zeros(static_cast<size_t>(status.st_size), '\0');
    if (::lseek(fd, 0, SEEK_SET) == 0 && base::write_all(fd, zeros)) (void)::fdatasync(fd);
}

}  // namespace

std::string store_directory(std::string_view state_directory) {
    return base::format("{}/secrets", state_directory);
}

bool is_stored(const std::string& store, std::string_view name) {
    return base::file_exists(path_of(store, name));
}

Result<base::SecretValue> read_stored(const std::string& store, std::string_view name) {
    Result<Fd> directory = open_store(store);
    if (!directory) return directory.error();
    std::string path = path_of(store, name);
    Fd file = open_value(*directory, name, O_RDONLY);
    if (!file) return base::system_error("read " + path, errno);
    if (Status is_private = check_private(file.get(), path, false); !is_private) return is_private.error();
    Result<std::string> bytes = base::read_descriptor(file.get(), base::SecretValue::kMaximum + 2);
    if (!bytes) return Error{.what = base::format("{}: {}", path, bytes.error().what)};
    return base::SecretValue::make(*std::move(bytes));
}

Status write_stored(const std::string& store, std::string_view name, const base::SecretValue& value) {
    if (Status made = base::make_directories(store, 0700); !made) return made;
    Result<Fd> directory = open_store(store);
    if (!directory) return directory.error();
    Fd earlier = open_value(*directory, name, O_WRONLY);
    Status written = value.reveal([&](std::string_view bytes) {
        return base::write_file_atomically(path_of(store, name), bytes, 0600);
    });
    if (written && earlier) overwrite(earlier.get());
    return written;
}

Result<bool> remove_stored(const std::string& store, std::string_view name) {
    Fd directory(::open(store.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory) {
        if (errno == ENOENT || errno == ENOTDIR) return false;
        return base::system_error("open " + store, errno);
    }
    if (Fd file = open_value(directory, name, O_WRONLY)) overwrite(file.get());
    if (::unlinkat(directory.get(), std::string(name).c_str(), 0) == 0) return true;
    if (errno == ENOENT) return false;
    return base::system_error("remove " + path_of(store, name), errno);
}

}  // namespace secrets
