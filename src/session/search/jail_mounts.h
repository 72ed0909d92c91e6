// SPDX-License-Identifier: MIT
// Changes the mounts of a running jail. A process of the guard enters the jail's mount namespace, covers a
// name, and pins the directories above it: a mount point can't be renamed.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/covers.h"
#include "backends/holders.h"
#include "base/file.h"
#include "base/path.h"

namespace session {

class JailMounts {
  public:
    // The `covers` of the launch are not touched: the keeper maintains them (cover_guard.h).
    explicit JailMounts(const std::vector<backends::Cover>& covers);

    // Can't be undone. False: this process has no permission, or the jail is dead.
    bool enter(int mount_namespace);

    // Pins the directories between `ground` and the name. Walks the path from the root each time, because a
    // directory that was opened earlier may be below a mount that was added since.
    enum class Outcome { laid, was_covered, absent, failed };
    Outcome cover(const base::Path& path, backends::Cover::Kind kind, const base::Path& ground);
    // Covers a directory that may be pinned already: the cover is mounted on top of the pin.
    Outcome close(const base::Path& directory, backends::Cover::Kind kind);

    // Processes that were killed because they had a directory open that cover() made read-only.
    size_t killed() const { return killed_; }

    bool is_covered_at_launch(const std::string& path) const { return covered_at_launch_.contains(path); }
    size_t laid() const { return laid_; }  // mounts, including pins

    // Opens the directory without following a symbolic link in any component.
    base::Fd open_directory(const base::Path& path) const;

  private:
    base::Fd step(int directory, const base::Path& place, bool is_pinned);
    bool lay(backends::Cover::Kind kind, int place, const base::Path& path);
    bool cover_below_pins(const base::Path& path, backends::Cover::Kind kind);
    bool end_holders();

    std::set<std::string, std::less<>> covered_at_launch_;
    base::Fd root_;
    // Directories that were pinned after the start, as they were before. A process that opened one of them
    // earlier, or has it as its working directory, still walks below the pin.
    std::map<std::string, base::Fd> below_pins_;
    std::vector<backends::BareObject> opened_;  // read-only directories that a process may have open
    size_t laid_ = 0;
    size_t killed_ = 0;
};

}  // namespace session
