// SPDX-License-Identifier: MIT
#include "session/search/jail_mounts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

#include "backends/cover_again.h"
#include "base/no_links.h"

namespace session {
namespace {

// How often in a row another process may replace the file between two of our calls.
constexpr int kReplacements = 20;
constexpr int kPlace = O_PATH | O_NOFOLLOW | O_CLOEXEC;

bool is_read_only(int place) {
    struct statvfs status;
    return ::fstatvfs(place, &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
}

bool is_link(int place) {
    struct stat status;
    return ::fstat(place, &status) == 0 && S_ISLNK(status.st_mode);
}

}  // namespace

JailMounts::JailMounts(const std::vector<backends::Cover>& covers) {
    for (const backends::Cover& cover : covers) covered_at_launch_.insert(cover.inside.str());
}

bool JailMounts::enter(int mount_namespace) {
    if (!backends::enter_mounts(mount_namespace)) return false;
    root_ = base::Fd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    return static_cast<bool>(root_);
}

// Opens the next component. If it is to be pinned, it becomes a mount point.
base::Fd JailMounts::step(int directory, std::string_view name, bool is_pinned) {
    const std::string text(name);
    for (int attempt = 0; attempt < kReplacements; ++attempt) {
        base::Fd next(::openat(directory, text.c_str(), kPlace | O_DIRECTORY));
        if (!next || !is_pinned || is_read_only(directory)) return next;
        if (backends::is_mount_point(next.get()).value_or(true)) return next;
        if (backends::lay_cover(backends::Cover::Kind::writable, next.get())) {
            ++laid_;
        } else if (errno != ENOENT) {
            return {};
        }
    }
    return {};
}

JailMounts::Outcome JailMounts::cover(const base::Path& path, backends::Cover::Kind kind,
                                      const base::Path& ground) {
    base::Fd directory(::dup(root_.get()));
    base::Path place;
    std::vector<std::string_view> components = path.components();
    for (size_t i = 0; i + 1 < components.size(); ++i) {
        place = place / components[i];
        directory = step(directory.get(), components[i], place.is_strictly_within(ground));
        if (!directory) return errno == ENOENT || errno == ENOTDIR ? Outcome::absent : Outcome::failed;
    }
    const std::string name(path.name());
    for (int attempt = 0; attempt < kReplacements; ++attempt) {
        base::Fd found(::openat(directory.get(), name.c_str(), kPlace));
        if (!found) return errno == ENOENT ? Outcome::absent : Outcome::failed;
        if (is_link(found.get())) return Outcome::failed;
        if (kind == backends::Cover::Kind::readonly && is_read_only(directory.get()))
            return Outcome::was_covered;
        if (backends::is_mount_point(found.get()).value_or(false)) return Outcome::was_covered;
        if (backends::lay_cover(kind, found.get())) {
            ++laid_;
            return Outcome::laid;
        }
        if (errno != ENOENT) return Outcome::failed;
    }
    return Outcome::failed;
}

JailMounts::Outcome JailMounts::close(const base::Path& directory, backends::Cover::Kind kind) {
    base::Fd place(base::open_without_links(directory, O_PATH | O_DIRECTORY));
    if (!place) return Outcome::absent;
    if (!backends::lay_cover(kind, place.get())) return Outcome::failed;
    ++laid_;
    return Outcome::laid;
}

base::Fd JailMounts::open_directory(const base::Path& path) const {
    int opened = base::open_without_links(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    return opened >= 0 ? base::Fd(opened) : base::Fd();
}

}  // namespace session
