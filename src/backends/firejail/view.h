// SPDX-License-Identifier: MIT
// A plan as what firejail can do to a path. Pure: asks the tree and touches nothing.
//
// Theory of operation. firejail starts from the host's whole tree and takes away. A directory at the top is
// an empty tmpfs as soon as one path in it is whitelisted, and then shows what is whitelisted and nothing
// else; so does the home directory, which counts as a top of its own. So every top is opened by a rule that
// shows all of it, or has something whitelisted in it, if need be a name that nothing has. Inside what is
// shown, paths are made read-only, or covered so that nobody but root can open them ("blacklist"); names
// stay.
//
// It carries out all whitelists first and then the other acts in the order that they are given in, so an act
// on a directory stands before those on what lies in it. What it can't do it passes over in silence, or with
// a warning that nobody reads: checks.h has the inner stage look.
#pragma once

#include <vector>

#include "base/path.h"
#include "base/result.h"
#include "host/tree.h"
#include "plan/plan.h"

namespace backends::firejail {

enum class Act {
    whitelist,
    read_only,   // with all mounts below
    read_write,  // takes a read_only back; firejail does so for the owner alone
    blacklist,
    tmpfs,  // only for directories of the caller's in the home directory
};

struct Entry {
    Act act = Act::whitelist;
    base::Path path;

    bool operator==(const Entry&) const = default;
};

// Of the home, for the inner stage to lay there (inner/lay.h).
struct Link {
    base::Path path;
    std::string target;
};

struct View {
    std::vector<Entry> entries;
    std::vector<base::Path> copied;   // files of an empty home that firejail lays its own in place of
    std::vector<Link> links;          // of an empty home
    std::vector<base::Path> emptied;  // directories of firejail's own: tops, the home, /var/tmp
    bool shows_all_homes = false;     // something in /home that is not the caller's is asked for
    bool shows_graphics = false;      // graphics processors
    bool filters_accounts = false;    // /etc/passwd and /etc/group are firejail's own
    bool keeps_var_tmp = false;  // something of the host's /var/tmp is shown, and it is no place to write
};

struct Host {
    const host::Tree& tree;
    base::Path home;     // physical
    uint32_t user = 0;   // number
    base::Path program;  // this one
};

// Refuses what firejail can't be told: a device that it does not let in.
base::Result<View> make_view(const plan::Plan& plan, const Host& host);

}  // namespace backends::firejail
