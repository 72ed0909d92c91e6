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

#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/path.h"
#include "host/node.h"

namespace host {

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
    // Null where the name is not cached.
    const Answer* find(const base::Path& directory, const std::string& identity, std::string_view name) const;

    // Records what was found under `name` while the directory had this identity.
    void learn(const base::Path& directory, const std::string& identity, std::string_view name,
               const Answer& answer);
    // Writes the file if something is new.
    void keep(const std::string& file) const;

    time_t began() const { return now_; }

  private:
    struct Directory {
        time_t since = 0;  // the oldest of its findings
        std::map<std::string, Answer, std::less<>> names;
    };
    // Nodes of a cluster share a home directory, and one path may be a different directory on each node.
    using Key = std::pair<base::Path, std::string>;

    bool read(std::string_view body);

    time_t now_ = 0;
    std::map<Key, Directory> directories_;
    bool has_news_ = false;
};

}  // namespace host
