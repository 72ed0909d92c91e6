// SPDX-License-Identifier: MIT
#include "session/guard/cover_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "plan/backend.h"
#include "session/guard/git_settings.h"

namespace session {
namespace {

constexpr uint32_t kWatched = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR;

}  // namespace

CoverWatch::CoverWatch(const plan::Plan& plan) {
    if (!plan::traits_of(plan.backend).has_namespaces) return;
    covers_ = backends::covers_of(plan);
    for (const backends::Cover& cover : covers_) names_[cover.outside.parent()].emplace(cover.outside.name());
    if (!covers_.empty()) watch_again();
}

void CoverWatch::set_mount_namespace(base::Fd mount_namespace) {
    if (!covers_.empty()) mount_namespace_ = std::move(mount_namespace);
}

void CoverWatch::watch_again() {
    watched_.clear();
    renamed_.clear();
    if (!events_) events_ = base::Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    sees_all_ = static_cast<bool>(events_);
    for (const auto& [directory, names] : names_) {
        bool has_configuration = std::ranges::any_of(
            names, [&](const std::string& name) { return is_git_configuration(directory / name); });
        // For a directory that is watched already, inotify returns the same number again.
        int number = ::inotify_add_watch(events_.get(), directory.c_str(),
                                         has_configuration ? kWatched | IN_MODIFY : kWatched);
        if (number >= 0) watched_.insert_or_assign(number, directory);
        // If the user can't list a directory, only other users can replace entries there: do not poll it.
        bool is_elsewhere = number < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES);
        sees_all_ = sees_all_ && (number >= 0 || is_elsewhere);
    }
}

CoverWatch::News CoverWatch::take() {
    alignas(struct inotify_event) char bytes[4096];
    News news;
    for (ssize_t got; (got = ::read(events_.get(), bytes, sizeof bytes)) > 0;) {
        for (ssize_t at = 0; at < got;) {
            const auto* event = reinterpret_cast<const struct inotify_event*>(bytes + at);
            at += static_cast<ssize_t>(sizeof *event + event->len);
            auto directory = watched_.find(event->wd);
            bool is_lost = (event->mask & (IN_Q_OVERFLOW | IN_IGNORED)) != 0;
            bool is_named = directory != watched_.end() && event->len > 0 &&
                            names_[directory->second].contains(std::string_view(event->name));
            bool is_removal = (event->mask & (IN_DELETE | IN_MOVED_FROM)) != 0;
            if (is_named) note_writing(directory->second / event->name, event->mask, news);
            is_named = is_named && (event->mask & IN_MODIFY) == 0;
            news.is_concerned = news.is_concerned || is_lost || is_named;
            news.is_removed = news.is_removed || is_lost || (is_named && is_removal);
        }
    }
    return news;
}

void CoverWatch::note_writing(const base::Path& path, uint32_t event, News& news) {
    if (!is_git_configuration(path)) return;
    if ((event & IN_MOVED_TO) != 0) renamed_.insert(path);
    if ((event & IN_CREATE) != 0) renamed_.erase(path);  // its creator writes it next
    if ((event & IN_MODIFY) != 0 && renamed_.contains(path)) news.written.insert(path);
}

void CoverWatch::close() {
    events_.reset();
    mount_namespace_.reset();
}

}  // namespace session
