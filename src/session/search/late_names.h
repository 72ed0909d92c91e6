// SPDX-License-Identifier: MIT
// Names that a rule hides or protects and that were missing at launch. Each is covered when it appears, also
// if the directories above it appear first.
#pragma once

#include <set>
#include <vector>

#include "plan/plan.h"
#include "session/search/jail_mounts.h"
#include "session/search/name_watch.h"
#include "session/search/search_progress.h"

namespace session {

class LateNames {
  public:
    LateNames(const plan::Plan& plan, JailMounts& mounts, NameWatch& watch, SearchProgress& progress)
        : plan_(plan), mounts_(mounts), watch_(watch), progress_(progress) {}

    // Covers the names that exist and watches for the others.
    void look();
    // A name has appeared.
    void hear(const NameWatch::News& news);

  private:
    void look_for(const plan::LateName& late);
    void cover(const base::Path& path, plan::Access access);

    const plan::Plan& plan_;
    JailMounts& mounts_;
    NameWatch& watch_;
    SearchProgress& progress_;
    std::set<base::Path> watched_;
};

}  // namespace session
