// SPDX-License-Identifier: MIT
#include "config/verbs.h"

#include <algorithm>

namespace config {
namespace {

constexpr Verb kVerbs[] = {
    {"run", "[OPTIONS] [--] COMMAND [ARGS…]", "run a command in the jail; the word itself may be left out",
     "", "", true},
    {"plan", "[OPTIONS] [--] COMMAND [ARGS…]",
     "show the jail as data, each item with reason and origin; run nothing", "", "--json", true},
    {"why", "path P [--write] | env NAME | host H[:PORT] | syscall NAME",
     "say what decides about a path, a variable, a host or a system call, and what would allow it",
     "path|env|host|syscall", "--write --json", false},
    {"config", "init | show | check [FILE] | path | import FILE", "make, show, check or import configuration",
     "init|show|check|path|import", "--origin --json", false},
    {"profiles", "[show NAME]", "list the agents that are known, or show what the profile of one says",
     "show", "--json", false},
    {"trust", "[DIRECTORY]", "accept the project's own file as it is now", "", "", false},
    {"untrust", "[DIRECTORY]", "forget that the project's own file was accepted", "", "", false},
    {"doctor", "[--admin-note]", "say what this machine can enforce, and how to get what it can't", "",
     "--admin-note --json", false},
    {"selftest", "[GROUP…] [PROBE…] [--list] [--in-home]",
     "try to break out of a real jail in every known way, and say what held",
     "files|environment|processes|ipc|terminal|system-calls|namespaces|persistence|network",
     "--list --in-home --json", false},
    {"notify", "TEXT…", "ring the user's terminal, from inside a jail or outside", "", "", false},
    {"slurm-log", "", "inside a jail: what its session asked of Slurm, and what was refused", "", "", false},
    {"completion", "bash | zsh | fish", "print completion for a shell", "bash|zsh|fish", "", false},
    {"help", "[VERB]", "explain the program or one of its verbs", "", "", false},
    {"version", "", "print the version", "", "", false},
};

constexpr RunFlag kRunFlags[] = {
    {"--project", FlagValue::directory, "DIR", "the project; else the current directory"},
    {"--preset", FlagValue::preset, "NAME", "settings under one name"},
    {"--limit", FlagValue::limit, "KEY=VALUE", "one of limits.*: memory=2G, wall_time=10m, processes=200"},
    {"--dry-run", FlagValue::none, "", "show the plan, run nothing"},
    {"--json", FlagValue::none, "", "with --dry-run: the plan as JSON"},
    {"--help", FlagValue::none, "", "explain the program"},
    {"--version", FlagValue::none, "", "print the version"},
};

}  // namespace

std::span<const Verb> verbs() {
    return kVerbs;
}

const Verb* find_verb(std::string_view name) {
    const Verb* verb = std::ranges::find(kVerbs, name, &Verb::name);
    return verb == std::end(kVerbs) ? nullptr : verb;
}

std::span<const RunFlag> run_flags() {
    return kRunFlags;
}

}  // namespace config
