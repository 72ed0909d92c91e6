// SPDX-License-Identifier: MIT
#include "session/guard/kept_state.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/file.h"
#include "base/no_links.h"

namespace session {
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

base::Status make_new_directories(const plan::Plan& plan) {
    for (const plan::NewDirectory& directory : plan.new_directories) {
        base::Status made = base::make_directories_without_links(directory.path, 0700);
        if (made) continue;
        base::Error error = made.error();
        error.where = directory.reason.origin.describe();
        error.advice = "make it yourself, or change the setting that asks for it";
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
