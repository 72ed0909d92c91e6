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
#include "plan/agent/known_agents.h"
#include "plan/draft.h"

namespace plan {

enum class WhenMissing {
    leave,
    set_aside,             // leave it, and move what appears there out of the project at the end
    hold_with_directory,   // programs ignore it
    hold_with_empty_file,  // where programs fail on a directory
    hold_with_dot,         // a file with ".", which means this directory
    hold_with_object,      // an empty JSON object
};

class Protection {
  public:
    explicit Protection(Draft& draft) : draft_(draft), agents_files_(project_files(draft)) {}

    // `relative` below `root`; the last component may be a wildcard, which matches only existing names.
    void protect(const base::Path& root, std::string_view relative, const Reason& reason,
                 WhenMissing missing = WhenMissing::hold_with_directory);

    // The same for a path that a configuration in the project names: a session can write that configuration,
    // so it is never an error.
    void protect_named(const base::Path& root, std::string_view relative, const Reason& reason,
                       WhenMissing missing);

    // The caller knows that the path is not a link.
    void protect_existing(const base::Path& path, const Reason& reason);

    // A missing directory of the project that the launch makes and that stays writable: only the protected
    // names in it are held.
    void keep_writable(const base::Path& directory) { writable_.insert(directory); }

    // Whether the name is missing and left to the end of the session (WhenMissing::set_aside).
    bool is_set_aside(const base::Path& path) const;

    // A writable mount point of its own.
    void pin(const base::Path& path);

    // A missing directory that the launch makes and the jail can write; the caller protects names in it.
    void make_directory(const base::Path& path, const Reason& reason);

    // Makes a directory read-only whose mode keeps names in it from being covered, so that the jail can't
    // change the mode.
    void close(const base::Path& directory, const Reason& reason);

    // Names in the project that agents read as files (known_agents.h).
    const std::vector<std::string_view>& agents_files() const { return agents_files_; }

    // The first path that could not be protected.
    base::Status status() const;

  private:
    bool may_be_placeholder(const base::Path& path, const host::Node& node, WhenMissing missing) const;
    void protect_matching(const base::Path& pattern, const Reason& reason);
    void hold(const base::Path& path, const Reason& reason, WhenMissing missing);
    base::Path nearest_existing(const base::Path& directory) const;
    bool is_private(const base::Path& path, WhenMissing missing) const;

    struct LinkOnTheWay {
        base::Path link;  // its path
        base::Path path;  // the protected path that leads through it
        bool is_matched;  // by a wildcard
    };
    void follow_link(const LinkOnTheWay& way, const Reason& reason, WhenMissing missing);
    void close_around(const LinkOnTheWay& way, const Reason& reason);

    Draft& draft_;
    std::vector<std::string_view> agents_files_;
    std::optional<base::Error> problem_;
    bool may_refuse_ = true;
    std::set<base::Path> closed_;    // by close()
    std::set<base::Path> writable_;  // by keep_writable() and make_directory()
};

// Paths of a project that a session must not write (project.protect), seen from a project below its real
// root.

// Whether project.unprotect lifts this entry of project.protect.
bool is_lifted(const policy::Policy& policy, const config::Item& item);

struct ProtectedPlace {
    base::Path root;  // of the real project
    base::Path path;  // the protected one that the project is in, or the project itself
    std::string why;
};

// Where the project is, or is in, a path that is protected in a project above it. As a project of its own,
// such a directory would be writable. Threat: "cd .vscode && agent-sandbox" (tests/jail/protected.bats). A
// directory with a ".git" of its own is another project: agents put worktrees into their directories.
std::optional<ProtectedPlace> protected_place(const Draft& draft);

// Whether the project is a bare repository: its hooks and its configuration would be writable.
bool is_bare_repository(const Draft& draft);

}  // namespace plan
