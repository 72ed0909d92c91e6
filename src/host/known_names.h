// SPDX-License-Identifier: MIT
// What lies under the names of system directories, remembered from launch to launch. A plan asks for some
// four hundred of them, mailers and Slurm's commands above all, of which a machine has a dozen: with this,
// one look at each directory stands for all that it has and lacks.
//
// Threat: a name that is taken for absent is not hidden. So only directories count that nobody but root can
// change (disk_tree.cc decides which), and one in which a name was made, removed or replaced has another
// stamp. Of what is there no more is remembered than its directory vouches for: what kind it is, and where a
// link leads, but neither mode nor owner. (tests/host/known_names_test.cc)
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

// Which directory it is, and since when it is as it is.
std::string identity_of(const struct stat& directory);

class KnownNames {
  public:
    // Nothing: the name is absent.
    using Answer = std::optional<Glance>;

    KnownNames() = default;
    // What earlier launches have found, as far as it can be believed.
    static KnownNames recall(const std::string& file, time_t now);

    // Whether anything is known of this directory, so that its identity is worth a look.
    bool has(const base::Path& directory) const;
    // Null where the name is not known.
    const Answer* find(const base::Path& directory, const std::string& identity, std::string_view name) const;

    // This was found under `name` while the directory had this identity.
    void learn(const base::Path& directory, const std::string& identity, std::string_view name,
               const Answer& answer);
    // Writes down what is new; nothing is written otherwise.
    void keep(const std::string& file) const;

    time_t began() const { return now_; }

  private:
    struct Directory {
        time_t since = 0;  // the oldest of its findings
        std::map<std::string, Answer, std::less<>> names;
    };
    // Nodes of a cluster share a home directory, and one path is another directory on each.
    using Key = std::pair<base::Path, std::string>;

    bool read(std::string_view body);

    time_t now_ = 0;
    std::map<Key, Directory> directories_;
    bool has_news_ = false;
};

}  // namespace host
