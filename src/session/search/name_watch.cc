// SPDX-License-Identifier: MIT
#include "session/search/name_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/parse.h"
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
    for (ssize_t got; events_ && (got = ::read(events_.get(), bytes, sizeof bytes)) > 0;) {
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

}  // namespace session
