// SPDX-License-Identifier: MIT
// Read-only paths inside something writable, so that they can be neither changed nor made nor exchanged.
//
// A protected path that exists becomes a read-only mount of its own, and every directory between it and the
// root it is counted from a mount point too, because a mount point can't be renamed aside. One that is
// missing is held by a placeholder at its first missing component. Nothing can be mounted on a symbolic link,
// whose name could therefore be exchanged: one in the way is an error, since what was asked for can't be
// kept.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/path.h"
#include "base/result.h"
#include "plan/draft.h"

namespace plan {

enum class WhenMissing {
    leave,
    hold_with_directory,   // what programs take for nothing
    hold_with_empty_file,  // where they stumble over a directory
    hold_with_dot,         // a file that says "here"
    hold_with_object,      // an empty JSON object
};

class Protection {
  public:
    explicit Protection(Draft& draft) : draft_(draft) {}

    // `relative` below `root`; a wildcard may stand in the last component and then takes what exists.
    void protect(const base::Path& root, std::string_view relative, const Reason& reason,
                 WhenMissing missing = WhenMissing::hold_with_directory);

    // A path that is known to be no link.
    void protect_existing(const base::Path& root, const base::Path& path, const Reason& reason);

    // A mount point of its own, as are the directories between it and `root`.
    void pin(const base::Path& root, const base::Path& path);

    // The first thing that could not be protected.
    base::Status status() const;

  private:
    bool may_be_placeholder(const base::Path& path, const host::Node& node, WhenMissing missing) const;
    void protect_matching(const base::Path& root, const base::Path& pattern, const Reason& reason);
    void hold(const base::Path& root, const base::Path& path, const Reason& reason, WhenMissing missing);
    bool is_private(const base::Path& path, WhenMissing missing) const;
    void pin_ancestors(const base::Path& root, const base::Path& path);
    void refuse_link(const base::Path& path, const Reason& reason);

    Draft& draft_;
    std::optional<base::Error> problem_;
};

}  // namespace plan
