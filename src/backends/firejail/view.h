// SPDX-License-Identifier: MIT
// A plan as what firejail can do to a path. Pure: reads the tree and changes nothing.
//
// Theory of operation. firejail starts with the host's whole tree and removes parts. As soon as one path in a
// top-level directory is whitelisted, that directory is an empty tmpfs that shows only what is whitelisted.
// The home directory works the same way and counts as a separate top. So every top either has a rule that
// shows all of it, or something whitelisted in it, if necessary a name that does not exist. Inside what is
// shown, paths are made read-only, or covered so that only root can open them ("blacklist"); their names stay
// visible.
//
// firejail executes all whitelists first and then the other acts in the given order, so an act on a directory
// comes before those on its content. It skips what it can't do, silently or with a warning that the user does
// not see: so the inner stage checks the result (render.h).
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
    read_write,  // reverts read_only; firejail does so only for the owner
    blacklist,
    tmpfs,  // only for directories of the caller in the home directory
};

struct Entry {
    Act act = Act::whitelist;
    base::Path path;

    bool operator==(const Entry&) const = default;
};

// A link in the home that the inner stage makes (inner/preparation.h).
struct Link {
    base::Path path;
    std::string target;
};

struct View {
    std::vector<Entry> entries;
    std::vector<base::Path> copied;   // files of an empty home that firejail replaces by its own
    std::vector<Link> links;          // of an empty home
    std::vector<base::Path> emptied;  // directories that firejail makes empty: tops, the home, /var/tmp
    bool shows_all_homes = false;     // a path in /home outside the caller's home is wanted
    bool shows_graphics = false;      // graphics processors
    bool filters_accounts = false;    // /etc/passwd and /etc/group are firejail's own
    bool keeps_var_tmp = false;       // a part of the host's /var/tmp is shown, so it is not writable
};

struct Host {
    const host::Tree& tree;
    base::Path home;     // physical
    uint32_t user = 0;   // number
    base::Path program;  // this one
};

// Refuses a device that firejail can't allow.
base::Result<View> make_view(const plan::Plan& plan, const Host& host);

}  // namespace backends::firejail
