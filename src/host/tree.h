// SPDX-License-Identifier: MIT
// The file system as the decision sees it: a read-only view with two implementations, the disk and a tree in
// memory. Plans are computed against this interface alone, so that a test can simulate a RHEL 8 login node.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/path.h"
#include "base/result.h"
#include "host/known_names.h"

namespace host {

class Tree {
  public:
    virtual ~Tree() = default;

    // The node itself, without following a last symbolic link; nothing where it does not exist or can't be
    // seen.
    virtual std::optional<Node> look(const base::Path& path) const = 0;
    // The same where only its kind and its link matter: a tree may have these cached.
    virtual std::optional<Glance> glance(const base::Path& path) const;
    // Names in a directory, sorted; empty where it can't be read. The reference is valid until the tree
    // changes.
    virtual const std::vector<Entry>& list(const base::Path& directory) const = 0;
    // Calls `visitor` for each entry, in any order, until it returns false. False where the caller has no
    // permission to list the directory.
    virtual bool visit(const base::Path& directory, const std::function<bool(const Entry&)>& visitor) const;
    virtual base::Result<std::string> read(const base::Path& file, size_t limit) const = 0;
    // Whether the caller may write here (access(2)): a placeholder is only needed where the jail could create
    // the name.
    virtual bool may_write(const base::Path& path) const = 0;

    // `look` on the physical path.
    std::optional<Node> look_through(const base::Path& path) const;

    struct Link {
        base::Path path;  // its own physical path
        std::string text;
    };
    struct Resolved {
        base::Path path;          // without symbolic links; a missing part stays as written
        std::vector<Link> links;  // those that were followed, in order
        bool exists = false;
    };
    // Follows every link; an error for a loop.
    base::Result<Resolved> resolve(const base::Path& path) const;
};

// The machine's own file system. Each path is read once and then cached, so that resolving the sixty paths of
// a launch costs one lstat for each directory they share, and the whole decision uses one state of each name.
// Later changes on the disk are not seen: make a new DiskTree to look again. Not thread-safe.
class DiskTree final : public Tree {
  public:
    std::optional<Node> look(const base::Path& path) const override;
    std::optional<Glance> glance(const base::Path& path) const override;
    const std::vector<Entry>& list(const base::Path& directory) const override;
    // Caches small directories only: a project may have millions of entries.
    bool visit(const base::Path& directory, const std::function<bool(const Entry&)>& visitor) const override;
    base::Result<std::string> read(const base::Path& file, size_t limit) const override;
    bool may_write(const base::Path& path) const override;

    // An error where a path could not be read because descriptors or memory ran out. Also an error for a path
    // at or below `project` if a disk or a server failed, or if the path was missing when it was read and
    // exists again. Decisions from this tree are then invalid: they would neither hide nor mask what was not
    // seen.
    base::Status check(const base::Path& project) const;

    // Uses the findings of earlier launches from here on (known_names.h); `keep_names` stores the findings of
    // this launch for the next.
    void recall_names(const std::string& file) const;
    void keep_names() const;

  private:
    struct Seen {
        std::optional<Node> node;
        std::string identity;  // of a directory that root alone can change; empty otherwise
        time_t changed = 0;    // the time of that directory's last change
    };
    struct Listing {
        std::vector<Entry> entries;
        bool is_complete = false;  // a name that is not in it does not exist
    };
    // Most questions in a row are about one directory: its cached names need no second look-up.
    struct Recalled {
        bool contains(const base::Path& path, std::string_view name) const;

        base::Path directory;
        const KnownNames::Names* names = nullptr;
    };
    const Seen& see(const base::Path& path) const;
    base::Fd open_to_list(const base::Path& directory) const;
    // The cached answer, or null.
    const KnownNames::Answer* recall(const base::Path& path) const;
    bool is_known_to_lack(const base::Path& directory, std::string_view name) const;
    bool is_listed(const base::Path& path) const;
    void note_failure(const base::Path& path, int number) const;

    mutable std::unordered_map<base::Path, Seen> seen_;
    mutable std::unordered_map<base::Path, Listing> listed_;
    mutable std::unordered_map<base::Path, std::string> read_;
    mutable std::unordered_map<base::Path, bool> may_write_;
    mutable std::string names_file_;  // empty: the cache is not used
    mutable KnownNames names_;
    mutable Recalled last_recalled_;
    mutable std::vector<base::Path> looked_at_;
    mutable std::vector<std::pair<base::Path, int>> failures_;  // with errno
};

// Built by hand or from a listing with one node a line:
//   d /home/ann                       directory (parents are made)
//   f /etc/hosts 0644 some content    file; content may be left out
//   l /bin usr/bin                    symbolic link
//   s /run/docker.sock                socket
//   c /dev/nvidia0                    device
//   r /data/shared                    directory in which the caller can't write
//   # a remark
// Every kind except a link takes an octal mode after its path; without one it has the usual mode of its kind.
// In paths, contents and links \n is a newline, \t a tab, \s a blank and \\ a backslash. Root owns system
// trees and top-level directories, which are not writable; uid 1000 owns everything else.
class MemoryTree final : public Tree {
  public:
    static base::Result<MemoryTree> parse(std::string_view listing);

    void add(const base::Path& path, Node node, std::string content = {});

    std::optional<Node> look(const base::Path& path) const override;
    const std::vector<Entry>& list(const base::Path& directory) const override;
    base::Result<std::string> read(const base::Path& file, size_t limit) const override;
    bool may_write(const base::Path& path) const override;

  private:
    struct Stored {
        Node node;
        std::string content;
        bool is_readable = true;
        bool is_writable = true;
    };
    const Stored* find_through(const base::Path& path) const;

    std::map<base::Path, Stored> nodes_;
    mutable std::map<base::Path, std::vector<Entry>> listed_;
};

}  // namespace host
