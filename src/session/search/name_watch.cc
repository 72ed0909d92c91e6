// SPDX-License-Identifier: MIT
#include "session/search/name_watch.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/text.h"

namespace session {
namespace {

constexpr uint32_t kWatchedEvents = IN_CREATE | IN_MOVED_TO | IN_ONLYDIR | IN_EXCL_UNLINK;
constexpr size_t kMost = 200'000;

// Leave watches for the editors of the same user.
size_t share_of_watches() {
    base::Result<std::string> text = base::read_file("/proc/sys/fs/inotify/max_user_watches", 64);
    constexpr size_t kUsual = 8192;
    size_t limit = text ? base::parse_number<size_t>(base::trim(*text)).value_or(kUsual) : kUsual;
    return std::min(limit / 4, kMost);
}

}  // namespace

NameWatch::NameWatch(base::Fd events)
    : events_(std::move(events)), most_(share_of_watches()), sees_all_(events_), has_run_out_(!events_) {}

void NameWatch::add(int directory, const base::Path& path) {
    has_run_out_ = has_run_out_ || watched_.size() >= most_;
    if (!events_ || watched_.size() >= most_ || ::fchdir(directory) != 0) {
        sees_all_ = false;
        return;
    }
    // inotify returns the same number for a directory that is watched already; its path may have changed.
    int number = ::inotify_add_watch(events_.get(), ".", kWatchedEvents);
    if (number >= 0) watched_.insert_or_assign(number, path);
    has_run_out_ = has_run_out_ || (number < 0 && errno == ENOSPC);
    sees_all_ = sees_all_ && number >= 0;
}

bool NameWatch::take(const std::function<void(const News&)>& hear) {
    alignas(struct inotify_event) char bytes[16384];
    bool is_whole = true;
    // More than the kernel's queue holds. Threat: a jail makes names faster than this loop reads them
    // (tests/jail/floods.bats).
    constexpr int kMostReads = 64;
    for (int reads = 0; events_ && reads < kMostReads; ++reads) {
        const ssize_t got = ::read(events_.get(), bytes, sizeof bytes);
        if (got <= 0) break;
        for (ssize_t at = 0; at < got;) {
            const auto* event = reinterpret_cast<const struct inotify_event*>(bytes + at);
            at += static_cast<ssize_t>(sizeof *event + event->len);
            if ((event->mask & IN_Q_OVERFLOW) != 0) is_whole = false;
            auto directory = watched_.find(event->wd);
            if (directory == watched_.end()) continue;
            if ((event->mask & IN_IGNORED) != 0) {
                watched_.erase(directory);
            } else if (event->len > 0) {
                // A copy: the callback may add watches.
                hear({base::Path(directory->second), event->name, (event->mask & IN_ISDIR) != 0});
            }
        }
    }
    return is_whole;
}

void LateNames::look() {
    watched_.clear();
    for (const plan::LateName& late : plan_.search.late_names) look_for(late);
}

void LateNames::look_for(const plan::LateName& late) {
    // The directory, or its nearest ancestor that exists.
    base::Path nearest = late.directory;
    base::Fd directory = mounts_.open_directory(nearest);
    while (!directory && !nearest.is_root()) {
        nearest = nearest.parent();
        directory = mounts_.open_directory(nearest);
    }
    if (!directory) return;
    // Watch it before reading it, so that no new name is missed.
    if (watched_.insert(nearest).second) watch_.add(directory.get(), nearest);
    if (nearest != late.directory) return;
    if (!base::has_wildcard(late.pattern)) return cover(late.directory / late.pattern, late.access);
    base::visit_entries(directory.get(), [&](const struct dirent64& entry) {
        if (base::matches_name(late.pattern, entry.d_name)) cover(late.directory / entry.d_name, late.access);
        return true;
    });
}

void LateNames::hear(const NameWatch::News& news) {
    const base::Path path = news.directory / news.name;
    for (const plan::LateName& late : plan_.search.late_names) {
        bool is_way = news.is_directory && late.directory.is_within(path);
        bool is_name = late.directory == news.directory && base::matches_name(late.pattern, news.name);
        if (is_way) look_for(late);
        if (is_name) cover(path, late.access);
    }
}

void LateNames::cover(const base::Path& path, plan::Access access) {
    if (mounts_.is_covered_at_launch(path.str())) return;
    using backends::Cover;
    const Cover::Kind kind = access == plan::Access::readonly ? Cover::Kind::readonly : Cover::Kind::nothing;
    const base::Path ground = path.is_within(plan_.project) ? plan_.project : plan_.search.home;
    JailMounts::Outcome outcome = mounts_.cover(path, kind, ground);
    if (outcome == JailMounts::Outcome::laid) progress_.add(SearchProgress::Kind::appeared, path);
    if (outcome == JailMounts::Outcome::failed) progress_.add(SearchProgress::Kind::open, path);
}

}  // namespace session
