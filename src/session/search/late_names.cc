// SPDX-License-Identifier: MIT
#include "session/search/late_names.h"

#include <fcntl.h>

#include "base/entries.h"
#include "base/glob.h"

namespace session {

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
