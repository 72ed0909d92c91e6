// SPDX-License-Identifier: MIT
// Read-only paths inside something writable, so that they can be neither changed nor made nor exchanged.
//
// A protected path that exists becomes a read-only mount of its own; the directories above it are pinned like
// those of every rule (pins.cc). One that is missing is held by a placeholder at its first missing component.
//
// A symbolic link in the way is held itself, and the place that it leads to is protected as well. Not every
// backend can hold a link. Without that, the directory of the link becomes read-only; the project itself
// would have to, and that is an error. A session can plant links at names that only a wildcard covers, so
// there it is never an error: such a name is no more open than the next one that the wildcard matches.
#pragma once

#include <optional>
#include <set>
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

    // The same for a path that a configuration in the project names, which a session can write: it is never
    // an error.
    void protect_named(const base::Path& root, std::string_view relative, const Reason& reason,
                       WhenMissing missing);

    // A path that is known to be no link.
    void protect_existing(const base::Path& path, const Reason& reason);

    // A writable mount point of its own.
    void pin(const base::Path& path);

    // A directory whose mode keeps names in it from being covered becomes read-only, so that the jail can't
    // change the mode.
    void close(const base::Path& directory, const Reason& reason);

    // The first thing that could not be protected.
    base::Status status() const;

  private:
    bool may_be_placeholder(const base::Path& path, const host::Node& node, WhenMissing missing) const;
    void protect_matching(const base::Path& pattern, const Reason& reason);
    void hold(const base::Path& path, const Reason& reason, WhenMissing missing);
    bool is_private(const base::Path& path, WhenMissing missing) const;

    struct LinkOnTheWay {
        base::Path link;  // where it stands
        base::Path path;  // the protected path that leads through it
        bool is_matched;  // by a wildcard
    };
    void follow_link(const LinkOnTheWay& way, const Reason& reason, WhenMissing missing);
    void close_around(const LinkOnTheWay& way, const Reason& reason);

    Draft& draft_;
    std::optional<base::Error> problem_;
    bool may_refuse_ = true;
    std::set<base::Path> closed_;  // by close()
};

}  // namespace plan
