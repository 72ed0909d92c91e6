// SPDX-License-Identifier: MIT
// The mounts of a jail that runs, as a process of the guard changes them from inside the jail's mount
// namespace: it covers a name, and pins the directories above it so that none can be renamed aside.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "backends/covers.h"
#include "base/file.h"
#include "base/path.h"

namespace session {

class JailMounts {
  public:
    // `covers` of the launch are not touched: the keeper looks after them (cover_watch.h).
    explicit JailMounts(const std::vector<backends::Cover>& covers);

    // For good. False: this process may not, or the jail is dead.
    bool enter(int mount_namespace);

    // Directories between `ground` and the name are pinned. The path is walked from the root each time,
    // because a directory that is open already may lie below a mount that was laid since.
    enum class Outcome { laid, was_covered, absent, failed };
    Outcome cover(const base::Path& path, backends::Cover::Kind kind, const base::Path& ground);
    // The same for a directory that may be pinned already: a cover lies on top of the pin.
    Outcome close(const base::Path& directory, backends::Cover::Kind kind);

    bool is_covered_at_launch(const std::string& path) const { return covered_at_launch_.contains(path); }
    size_t laid() const { return laid_; }  // mounts, pins among them

    // The directory without following a link anywhere.
    base::Fd open_directory(const base::Path& path) const;

  private:
    base::Fd step(int directory, std::string_view name, bool is_pinned);

    std::set<std::string, std::less<>> covered_at_launch_;
    base::Fd root_;
    size_t laid_ = 0;
};

}  // namespace session
