// SPDX-License-Identifier: MIT
// Paths that an agent asks for: where they lead, and whether they are protected under any of their names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/path.h"
#include "cli/context.h"
#include "host/tree.h"

namespace cli {

// The disk for the look-up of an untrusted path: a directory that an automounter would mount for the look-up
// does not exist in it. Threat: an agent asks for /net/HOST/…, and the automounter outside sends a request to
// that host (tests/cli/asked_path_test.cc).
class UnmountedTree final : public host::Tree {
  public:
    // `mounts` has the form of /proc/self/mountinfo.
    explicit UnmountedTree(std::string_view mounts);
    UnmountedTree();

    std::optional<host::Node> look(const base::Path& path) const override;
    const std::vector<host::Entry>& list(const base::Path& directory) const override;
    base::Result<std::string> read(const base::Path& file, size_t limit) const override;
    bool may_write(const base::Path& path) const override;

    // Whether a look at the path would start an automounter.
    bool would_mount(const base::Path& path) const;

  private:
    struct Mounted {
        base::Path path;
        bool is_automount = false;
    };
    std::vector<Mounted> mounts_;
    host::DiskTree disk_;
};

// "device:inode:type" of the name itself; empty: it does not exist.
std::string identity_of(const base::Path& path);

// What stays closed, whatever the user answers.
class ProtectedPaths {
  public:
    ProtectedPaths(const Caller& caller, const Planned& planned);

    // For any path: looks nothing up.
    bool has_by_name(const base::Path& path) const;
    // For an existing path without links.
    bool has(const base::Path& path) const;

  private:
    bool has_by_identity(const base::Path& path) const;
    void add(const std::string& place);

    const Planned& planned_;
    std::vector<base::Path> homes_, projects_;  // as given, and without links
    std::vector<base::Path> places_;            // the same
    std::vector<std::string> inside_, above_;   // identities of the places, and of the directories above them
};

}  // namespace cli
