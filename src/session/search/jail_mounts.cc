// SPDX-License-Identifier: MIT
#include "session/search/jail_mounts.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

#include "backends/covers.h"
#include "base/no_links.h"
#include "base/text.h"

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

// A symbolic link is opened itself at the end, and refused on the way.
base::Fd walk(int directory, std::string_view relative) {
    base::Fd place(::dup(directory));
    for (std::string_view name : base::split(relative, '/'))
        place = base::Fd(::openat(place.get(), std::string(name).c_str(), kPlace));
    return place;
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
base::Fd JailMounts::step(int directory, const base::Path& place, bool is_pinned) {
    const std::string text(place.name());
    for (int attempt = 0; attempt < kReplacements; ++attempt) {
        base::Fd next(::openat(directory, text.c_str(), kPlace | O_DIRECTORY));
        if (!next || !is_pinned || is_read_only(directory)) return next;
        if (backends::is_mount_point(next.get()).value_or(true)) return next;
        if (backends::lay_cover(backends::Cover::Kind::writable, next.get())) {
            ++laid_;
            below_pins_[place.str()] = std::move(next);
        } else if (errno != ENOENT) {
            return {};
        }
    }
    return {};
}

bool JailMounts::lay(backends::Cover::Kind kind, int place, const base::Path& path) {
    struct statx status = {};
    bool is_told = ::statx(place, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO | STATX_MNT_ID, &status) == 0;
    if (!backends::lay_cover(kind, place)) return false;
    ++laid_;
    if (is_told && kind == backends::Cover::Kind::readonly && S_ISDIR(status.stx_mode))
        opened_.push_back({.inside = path,
                           .device = makedev(status.stx_dev_major, status.stx_dev_minor),
                           .inode = status.stx_ino,
                           .mount = status.stx_mnt_id,
                           .is_directory = true});
    return true;
}

// Threat: a process that has a directory open from before its pin reads there what is covered above
// (tests/jail/late_names.bats).
bool JailMounts::cover_below_pins(const base::Path& path, backends::Cover::Kind kind) {
    bool is_whole = true;
    for (base::Path above = path.parent(); !above.is_root(); above = above.parent()) {
        auto pinned = below_pins_.find(above.str());
        if (pinned == below_pins_.end()) continue;
        base::Fd place = walk(pinned->second.get(), path.relative_to(above));
        // The directory was replaced, or the file is gone: the old directory does not lead to it.
        if (!place || is_link(place.get()) || backends::is_mount_point(place.get()).value_or(false)) continue;
        bool is_laid = lay(kind, place.get(), path) || errno == ENOENT;
        is_whole = is_whole && is_laid;
    }
    return is_whole;
}

// Threat: a process that has a directory of a repository open from before writes hooks there
// (tests/jail/late_names.bats).
bool JailMounts::end_holders() {
    if (opened_.empty()) return true;
    backends::Holders holders = backends::kill_holders(opened_);
    opened_.clear();
    killed_ += holders.killed.size();
    return holders.is_certain;
}

JailMounts::Outcome JailMounts::cover(const base::Path& path, backends::Cover::Kind kind,
                                      const base::Path& ground) {
    base::Fd directory(::dup(root_.get()));
    base::Path place;
    std::vector<std::string_view> components = path.components();
    for (size_t i = 0; i + 1 < components.size(); ++i) {
        place = place / components[i];
        directory = step(directory.get(), place, place.is_strictly_within(ground));
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
        if (lay(kind, found.get(), path)) {
            bool is_whole = cover_below_pins(path, kind);
            return end_holders() && is_whole ? Outcome::laid : Outcome::failed;
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
