// SPDX-License-Identifier: MIT
// Things that a session left at protected names of its project, moved out of it: "aside" in the state
// directory, which only the user can read, and no jail. `agent-sandbox release` lists them and puts them
// back. Nothing is ever overwritten or lost: if the state directory can't take a thing, it stays in its
// directory of the project under a name that no tool reads.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/path.h"
#include "base/result.h"

namespace session {

// How long a thing is kept, in seconds.
inline constexpr std::time_t kLongestAside = std::time_t{30} * 24 * 3600;

struct Aside {
    std::string id;      // of the entry in the store
    base::Path path;     // where it was
    base::Path project;  // of the session
    std::string why;     // what would run it
    std::string session;
    int64_t time = 0;  // when it was moved
    base::Path place;  // where it is now
};

struct MovedName {
    base::Path path;
    std::string why;
    base::Path place;      // where it is now
    std::string problem;   // why it is still in the project; empty: it is not
    bool is_left = false;  // it still has its name
};

// Gives the owner of an open directory (O_PATH is enough) every permission on it as long as this object
// exists: the jail may have removed them. A directory of another user stays as it is.
class OpenForMove {
  public:
    explicit OpenForMove(int directory);
    ~OpenForMove();
    OpenForMove(const OpenForMove&) = delete;
    OpenForMove& operator=(const OpenForMove&) = delete;

  private:
    int directory_;
    mode_t mode_ = 0;
    bool has_changed_ = false;
};

class AsideStore {
  public:
    explicit AsideStore(const std::string& state_directory) : place_(state_directory + "/aside") {}

    // Moves `about.path`, a name in the open directory `parent`. Follows no link.
    MovedName take(int parent, Aside about);

    // The newest first.
    std::vector<Aside> list() const;

    // Copies the thing to its path and removes it here. A hard link to a file that a jail can still write
    // becomes a file of its own. An error where its path is taken.
    base::Status put_back(const Aside& entry) const;
    base::Status remove(const Aside& entry) const;

    // Removes what is older than kLongestAside.
    void remove_old(std::time_t now) const;

  private:
    struct Entry {
        std::string id;
        base::Fd directory;
    };
    std::optional<Entry> make_entry(const std::string& session) const;
    bool write_about(const Entry& entry, const Aside& about) const;
    MovedName rename_in_project(int parent, const Aside& about, const Entry* entry);
    void drop(const std::string& id) const;

    std::string place_;
};

}  // namespace session
