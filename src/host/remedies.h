// SPDX-License-Identifier: MIT
// What an administrator can do where the best jail can't be built: a list of ways, the narrowest first. A way
// that opens less comes before one that weakens the host, and no way switches AppArmor off.
#pragma once

#include <string>
#include <vector>

#include "host/facts.h"

namespace host {

struct Way {
    std::string title;        // "Load the distribution's profile for bubblewrap"
    std::string explanation;  // what it opens, and to whom
    std::vector<std::string> commands;
    std::string file;         // the text of a file that a command refers to; may be empty
    bool needs_bwrap = true;  // bubblewrap must be installed too
};

// Whether bubblewrap can build a jail here.
bool works_with_bwrap(const Facts& facts);

// Ways that let this program or bubblewrap build a jail, or firejail instead; empty where one of the two
// already can.
std::vector<Way> ways_to_a_jail(const Facts& facts);
// Ways to get Landlock, the second wall; empty where it is active or this kernel can't have it.
std::vector<Way> ways_to_landlock(const Facts& facts);

// Numbered, commands indented.
std::string to_text(const std::vector<Way>& ways);

// The text for /etc/apparmor.d that allows a program to create user namespaces; share/apparmor/NAME is the
// same.
std::string apparmor_profile(std::string_view name, const base::Path& program);

// A page for the administrator, complete without this program at hand; empty where nothing needs to be done.
std::string admin_note(const Facts& facts);

// "6.1.0-18-amd64" is at least 5.13.
bool is_kernel_at_least(std::string_view release, int major, int minor);

}  // namespace host
