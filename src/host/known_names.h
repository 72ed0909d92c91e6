// SPDX-License-Identifier: MIT
// The content of system directories, by name, cached from launch to launch. A plan looks up about four
// hundred names, mostly mailers and Slurm's commands, and a machine has a dozen of them. With this cache, one
// lstat for each directory answers for all names in it.
//
// Threat: a name that is wrongly taken for absent is not hidden. So only directories count that only root can
// change (disk_tree.cc decides which), and creating, removing or replacing a name changes the directory's
// time stamp. For an existing name only its kind and the target of a link are cached, because the directory's
// stamp does not cover mode and owner. (tests/host/known_names_test.cc)
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/path.h"

namespace host {

// Results that one launch found on the disk, so that the next one need not look again: small text files in
// the state directory. Threat: a process that could write there could make a launch overlook something. No
// jail can, because no jail gets the state directory (tests/jail/own_files.bats). A file of another user,
// with other groups or without its last line is ignored. Only the caller is left, and the jail is the
// caller's own.

// No finding is used for longer, in seconds.
inline constexpr time_t kLongestBelief = 3600;

struct Findings {
    std::string body;  // whole lines
};

// Nothing where the file is missing or fails the checks.
std::optional<Findings> kept_findings(const std::string& file, std::string_view title);

// `body` must be whole lines. A write failure is ignored: the next launch looks again.
void keep_findings(const std::string& file, std::string_view title, std::string_view body);

// Whether a finding made `then` is still valid `now`; false if the clock was set back.
bool is_within(time_t longest, time_t then, time_t now);

// A change time of the kernel as text, without blanks.
std::string stamp_text(const struct timespec& time);

// The kinds of directory entries.

enum class Kind { file, directory, symlink, socket, device, other };

struct Node {
    Kind kind = Kind::file;
    uint32_t mode = 0;  // permission bits
    uint32_t owner = 0;
    uint32_t group = 0;
    std::string link;     // the text of a symbolic link
    int64_t changed = 0;  // ctime in nanoseconds, which no program can set back
};

// The part of a node that decides where a path leads.
struct Glance {
    Kind kind = Kind::file;
    std::string link;

    bool operator==(const Glance&) const = default;
};

struct Entry {
    std::string name;
    Kind kind = Kind::file;
};

// Device, inode and time stamps: they change with the directory's content.
std::string identity_of(const struct stat& directory);

class KnownNames {
  public:
    // Nothing: the name is absent.
    using Answer = std::optional<Glance>;

    KnownNames() = default;
    // The findings of earlier launches that are still valid.
    static KnownNames recall(const std::string& file, time_t now);

    // Whether it has names of this directory, so that its identity is worth an lstat.
    bool has(const base::Path& directory) const;
    using Names = std::map<std::string, Answer, std::less<>>;
    // The names of a directory with this identity, or null. The pointer stays valid.
    const Names* names_of(const base::Path& directory, const std::string& identity) const;
    // Null where the name is not cached.
    const Answer* find(const base::Path& directory, const std::string& identity, std::string_view name) const;
    static const Answer* find(const Names& names, std::string_view name);

    // Records what was found under `name` while the directory had this identity.
    void learn(const base::Path& directory, const std::string& identity, std::string_view name,
               const Answer& answer);
    // Writes the file if something is new.
    void keep(const std::string& file) const;

    time_t began() const { return now_; }

  private:
    struct Directory {
        time_t since = 0;  // the oldest of its findings
        Names names;
    };
    // Nodes of a cluster share a home directory, and one path may be a different directory on each node.
    using Key = std::pair<base::Path, std::string>;

    bool read(std::string_view body);

    time_t now_ = 0;
    std::map<Key, Directory> directories_;
    bool has_news_ = false;
};

}  // namespace host
