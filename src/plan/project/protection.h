// SPDX-License-Identifier: MIT
// Read-only paths inside a writable directory: the jail can't change, create or replace them.
//
// A protected path that exists becomes a read-only mount of its own; the directories above it are pinned like
// those of every rule (pins.cc). One that is missing is held by a placeholder at its first missing component.
//
// A symbolic link on the way is held itself, and its target is protected as well. Where a backend can't hold
// a link, the directory of the link becomes read-only. If that directory is the project itself, it is an
// error. At a name that only a wildcard matches it is never an error, because a session can plant links
// there: such a name is not more open than the next one that the wildcard matches.
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
    hold_with_directory,   // programs ignore it
    hold_with_empty_file,  // where programs fail on a directory
    hold_with_dot,         // a file with ".", which means this directory
    hold_with_object,      // an empty JSON object
};

class Protection {
  public:
    explicit Protection(Draft& draft) : draft_(draft) {}

    // `relative` below `root`; the last component may be a wildcard, which matches only existing names.
    void protect(const base::Path& root, std::string_view relative, const Reason& reason,
                 WhenMissing missing = WhenMissing::hold_with_directory);

    // The same for a path that a configuration in the project names: a session can write that configuration,
    // so it is never an error.
    void protect_named(const base::Path& root, std::string_view relative, const Reason& reason,
                       WhenMissing missing);

    // The caller knows that the path is not a link.
    void protect_existing(const base::Path& path, const Reason& reason);

    // A writable mount point of its own.
    void pin(const base::Path& path);

    // Makes a directory read-only whose mode keeps names in it from being covered, so that the jail can't
    // change the mode.
    void close(const base::Path& directory, const Reason& reason);

    // The first path that could not be protected.
    base::Status status() const;

  private:
    bool may_be_placeholder(const base::Path& path, const host::Node& node, WhenMissing missing) const;
    void protect_matching(const base::Path& pattern, const Reason& reason);
    void hold(const base::Path& path, const Reason& reason, WhenMissing missing);
    bool is_private(const base::Path& path, WhenMissing missing) const;

    struct LinkOnTheWay {
        base::Path link;  // its path
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
