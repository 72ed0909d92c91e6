// SPDX-License-Identifier: MIT
// What an administrator can do about a machine where the best jail can't be built: ways, the narrowest first.
// None that only weakens the host stands before one that opens less, and AppArmor is never switched off.
#pragma once

#include <string>
#include <vector>

#include "host/facts.h"

namespace host {

struct Way {
    std::string title;        // "Load the distribution's profile for bubblewrap"
    std::string explanation;  // what it opens, and to whom
    std::vector<std::string> commands;
    std::string file;         // the text of a file that a command refers to; empty: none
    bool needs_bwrap = true;  // installed, besides
};

// bubblewrap can build a jail here.
bool works_with_bwrap(const Facts& facts);

// What would let this program or bubblewrap build a jail, or firejail in their place; nothing where one of
// the two can.
std::vector<Way> ways_to_a_jail(const Facts& facts);
// What would bring Landlock, the second wall; nothing where it is there or can't be had with this kernel.
std::vector<Way> ways_to_landlock(const Facts& facts);

// Numbered, commands indented.
std::string to_text(const std::vector<Way>& ways);

// The text for /etc/apparmor.d that lets a program make user namespaces; share/apparmor/NAME is the same.
std::string apparmor_profile(std::string_view name, const base::Path& program);

// A page for the administrator, complete without this program at hand; empty where there is nothing to ask.
std::string admin_note(const Facts& facts);

// "6.1.0-18-amd64" is at least 5.13.
bool is_kernel_at_least(const Facts& facts, int major, int minor);

}  // namespace host
