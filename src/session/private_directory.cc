// SPDX-License-Identifier: MIT
// Theory of operation. The session holds a lock on its directory, and its keeper inherits it. If both are
// killed, the lock becomes free, and the next cleanup removes the directory. A directory that was just made
// and is not locked yet looks the same. So its maker checks after locking that the path still leads to it,
// and makes another one if not. If the file system has no locks, nothing is removed.
//
// Threat: every user can write in /tmp. A directory that exists already may belong to an attacker, and is
// refused. Ours is closed to other users, and no path into it contains a component that another user could
// change.
#include "session/private_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/entries.h"
#include "base/format.h"
#include "base/inside/paths_inside.h"
#include "base/remove_tree.h"

namespace session {
namespace {

constexpr int kMostTries = 16;

base::Fd open_directory(const std::string& path) {
    return base::Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Locked, if the file system can. Waits only for a cleanup that checks whether the session is dead.
base::Result<base::Fd> make_locked(const std::string& path) {
    for (int tries = 0; tries < kMostTries; ++tries) {
        if (::mkdir(path.c_str(), 0700) != 0) break;
        base::Fd directory = open_directory(path);
        if (!directory && errno == ENOENT) continue;
        if (!directory) return base::system_error("open the session's directory " + path, errno);
        (void)::flock(directory.get(), LOCK_EX);
        if (base::is_still_named(directory.get(), path)) return directory;
    }
    base::Error error = base::system_error("make the session's directory " + path, errno);
    error.advice = "/tmp must be a directory that you can write";
    return error;
}

bool is_private_directory_name(std::string_view name) {
    if (!name.starts_with(base::kPlacePrefix)) return false;
    name.remove_prefix(base::kPlacePrefix.size());
    return name.size() == base::kPlaceDigits &&
           name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Owned by us and not locked by a living session. With the lock held, also check that the path still leads to
// it.
bool is_left(int directory, const std::string& path) {
    struct stat status;
    return ::fstat(directory, &status) == 0 && status.st_uid == ::geteuid() &&
           ::flock(directory, LOCK_EX | LOCK_NB) == 0 && base::is_still_named(directory, path);
}

base::Status make_directory(int parent, const std::string& name, mode_t mode) {
    if (::mkdirat(parent, name.c_str(), mode) == 0 || errno == EEXIST) return base::success();
    return base::system_error(base::format("make {} in the session's directory", name), errno);
}

base::Status write_file(int directory, const plan::PlacedFile& file) {
    int mode = file.is_executable ? 0500 : 0400;
    base::Fd made(::openat(directory, file.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (!made)
        return base::system_error(base::format("make {} in the session's directory", file.name), errno);
    if (base::write_all(made.get(), file.content)) return base::success();
    return base::system_error(base::format("write {} in the session's directory", file.name), errno);
}

}  // namespace

base::Status PrivateDirectory::make(const plan::PrivateDirectory& wanted) {
    if (wanted.path.is_root()) return base::success();
    const std::string& path = wanted.path.str();
    base::Result<base::Fd> made_here = make_locked(path);
    if (!made_here) return made_here.error();
    path_ = path;
    directory_ = *std::move(made_here);
    for (std::string_view name : {base::kStubs, base::kTemporary}) {
        if (base::Status made = make_directory(directory_.get(), std::string(name), 0700); !made) return made;
    }
    for (const plan::PlacedFile& file : wanted.files) {
        if (base::Status made = write_file(directory_.get(), file); !made) return made;
    }
    for (const plan::PlacedLink& link : wanted.links) {
        if (::symlinkat(link.target.c_str(), directory_.get(), link.name.c_str()) != 0)
            return base::system_error(base::format("make {} in the session's directory", link.name), errno);
    }
    return base::success();
}

void PrivateDirectory::remove() {
    if (path_.empty()) return;
    base::remove_tree(path_);
    path_.clear();
    directory_.reset();
}

void remove_stale_directories(const std::string& parent) {
    base::Fd directory = open_directory(parent);
    if (!directory) return;
    std::vector<std::string> names;
    base::visit_entries(directory.get(), [&](const struct dirent64& entry) {
        if (is_private_directory_name(entry.d_name)) names.emplace_back(entry.d_name);
        return true;
    });
    for (const std::string& name : names) {
        base::Fd stale = open_directory(parent + "/" + name);
        // The path can't lead elsewhere meanwhile: in /tmp only the owner can rename it.
        if (stale && is_left(stale.get(), parent + "/" + name)) base::remove_tree(parent + "/" + name);
    }
}

}  // namespace session
