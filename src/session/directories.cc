// SPDX-License-Identifier: MIT
#include "session/directories.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/no_links.h"
#include "base/text.h"

namespace session {
namespace {

constexpr std::string_view kName = "/agent-sandbox";

bool belongs_to(uid_t user, const std::string& path) {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == user &&
           (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string temporary_place(uid_t user) {
    return "/tmp/agent-sandbox-u" + std::to_string(user);
}

std::string parent_of(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

bool is_there(const std::string& path) {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0;
}

bool is_private(const std::string& path) {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0 && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

// Threat: every user can write in /tmp. A name that another user has made is not used, and nothing is made
// behind a link (tests/session/session_directory_test.cc).
bool make(const std::string& place, uid_t user) {
    if (is_there(place) && !(belongs_to(user, place) && is_private(place))) return false;
    std::string sessions = place + "/sessions";
    if (::mkdir(sessions.c_str(), 0700) != 0 && errno == ENOENT) {
        if (::mkdir(place.c_str(), 0700) != 0 && errno == ENOENT && !base::make_directories(place))
            return false;
        if (::mkdir(sessions.c_str(), 0700) != 0 && errno != EEXIST) return false;
    }
    return belongs_to(user, place) && belongs_to(user, sessions);
}

}  // namespace

std::vector<std::string> runtime_places(std::string_view runtime_directory,
                                        std::string_view state_directory) {
    const uid_t user = ::geteuid();
    std::vector<std::string> places;
    auto add = [&](std::string place) {
        if (std::ranges::find(places, place) == places.end()) places.push_back(std::move(place));
    };
    while (runtime_directory.size() > 1 && runtime_directory.ends_with('/'))
        runtime_directory.remove_suffix(1);
    if (runtime_directory.starts_with('/')) add(std::string(runtime_directory) + std::string(kName));
    add(base::format("/run/user/{}{}", user, kName));
    add(temporary_place(user));
    add(std::string(state_directory) + "/run");
    return places;
}

std::string make_runtime_place(const std::vector<std::string>& places, std::string* taken) {
    const uid_t user = ::geteuid();
    for (const std::string& place : places) {
        // Only the last component may be made, except in the state directory. Its parent must belong to the
        // user, except /tmp.
        bool may_be_had =
            &place == &places.back() || place == temporary_place(user) || belongs_to(user, parent_of(place));
        if (may_be_had && make(place, user)) return place;
        if (may_be_had && taken != nullptr && taken->empty() && is_there(place)) *taken = place;
    }
    return {};
}

std::string session_directory_path(std::string_view place, std::string_view session) {
    return std::string(place) + "/sessions/" + std::string(session);
}

// Theory of operation. The session holds a lock on its directory, and its keeper inherits it. If both are
// killed, the lock becomes free, and the next cleanup removes the directory. A directory that was just made
// and is not locked yet looks the same. So its maker checks after locking that the path still leads to it,
// and makes another one if not. If the file system has no locks, nothing is removed.
//
// Threat: every user can write in /tmp. A directory that exists already may belong to an attacker, and is
// refused. Ours is closed to other users, and no path into it contains a component that another user could
// change.

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

namespace {

// Threat: a session that may write in the home directory replaces the user's file by a link to a private key;
// the copy of the next session would show the key (tests/jail/planted_links.bats). A link is treated as a
// missing file; the plan has a note about it.
base::Result<std::optional<base::Fd>> open_users(const base::Path& path) {
    base::Fd file(base::open_without_links(path, O_RDONLY | O_NONBLOCK));
    struct stat status;
    if (file && ::fstat(file.get(), &status) != 0) return base::system_error("look at " + path.str(), errno);
    if (file && S_ISREG(status.st_mode)) return std::optional(std::move(file));
    int number = file ? ENOENT : -file.get();
    if (number == ENOENT || number == ENOTDIR || number == ELOOP) return std::optional<base::Fd>();
    return base::system_error("read " + path.str(), number);
}

// True when the copy is missing, or older than the user's own file.
bool is_outdated(const base::Path& copy, const std::optional<base::Fd>& users) {
    struct stat own, source;
    if (::lstat(copy.c_str(), &own) != 0 || !S_ISREG(own.st_mode)) return true;
    if (!users || ::fstat(users->get(), &source) != 0) return false;
    return source.st_mtim.tv_sec > own.st_mtim.tv_sec;
}

// A directory that belongs to the sandbox and that the jail sees at another path: a cache, an agent's state.
bool is_own_place(const plan::Plan& plan, const plan::Mount& mount) {
    return mount.kind == plan::MountKind::bind_writable && mount.source != mount.target.str() &&
           std::ranges::any_of(plan.new_directories, [&](const plan::NewDirectory& made) {
               return made.path.str() == mount.source;
           });
}

// Removes the first component that is a link, or that is a file but should be a directory. Never a directory.
void clear_way(const base::Path& place, std::string_view relative) {
    base::Fd directory(base::open_without_links(place, O_PATH | O_DIRECTORY));
    for (size_t begin = 0; directory && begin < relative.size();) {
        size_t slash = std::min(relative.find('/', begin), relative.size());
        std::string name(relative.substr(begin, slash - begin));
        struct stat status;
        if (::fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
        bool is_in_the_way = S_ISLNK(status.st_mode) || (slash < relative.size() && !S_ISDIR(status.st_mode));
        if (is_in_the_way) {
            ::unlinkat(directory.get(), name.c_str(), 0);
            return;
        }
        directory = base::Fd(::openat(directory.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        begin = slash + 1;
    }
}

}  // namespace

void remove_planted_links(const plan::Plan& plan) {
    for (const plan::Mount& own : plan.mounts) {
        if (!is_own_place(plan, own)) continue;
        base::Result<base::Path> place = base::Path::parse(own.source);
        for (const plan::Mount& mount : plan.mounts) {
            if (place && mount.target.is_strictly_within(own.target))
                clear_way(*place, mount.target.relative_to(own.target));
        }
    }
}

base::Status make_new_directories(const plan::Plan& plan, std::string_view state_directory) {
    for (const plan::NewDirectory& directory : plan.new_directories) {
        base::Status made = base::make_directories_without_links(directory.path, 0700);
        if (made) continue;
        base::Error error = made.error();
        error.where = directory.reason.origin.describe();
        error.advice = directory.path.str().starts_with(state_directory)
                           ? "set XDG_STATE_HOME to a directory that you can write"
                           : "make it yourself, or change the setting that asks for it";
        return base::with_shut_directory(std::move(error), directory.path);
    }
    return base::success();
}

base::Status make_kept_files(const plan::Plan& plan) {
    for (const plan::KeptFile& kept : plan.kept_files) {
        base::Result<std::optional<base::Fd>> users = open_users(kept.copied_from);
        if (!users) return users.error();
        if (!is_outdated(kept.path, *users)) continue;
        if (base::Status made = base::make_directories_without_links(kept.path.parent(), 0700); !made)
            return made;
        base::Result<std::string> content = kept.otherwise;
        if (*users) content = base::read_descriptor((*users)->get());
        if (!content) return content.error();
        if (base::Status written = base::write_file_atomically(kept.path.str(), *content); !written)
            return written;
    }
    return base::success();
}

}  // namespace session
