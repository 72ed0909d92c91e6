// SPDX-License-Identifier: MIT
#include "config/verbs.h"

#include <algorithm>

#include "base/text.h"

namespace config {
namespace {

constexpr Verb kVerbs[] = {
    {"run", "[OPTIONS] [--] COMMAND [ARGS…]", "run a command in the jail; the word itself may be left out",
     "", "", true},
    {"plan", "[OPTIONS] [--] COMMAND [ARGS…]",
     "show the jail as data, each item with reason and origin; run nothing", "", "--json", true},
    {"why", "path P [--write] | env NAME | host H[:PORT] | syscall NAME | slurm [COMMAND] OPTION",
     "say what decides about a path, a variable, a host, a system call or an option of Slurm, and what would "
     "allow it",
     "path|env|host|syscall|slurm", "--write --json", false},
    {"policy", "[show] | draft [SESSION…]",
     "show what is in force, inside a jail or here; or make a file for review from what was refused",
     "show|draft", "--json", false},
    {"config", "init | show | check [--admin] [FILE] | path | import [--admin] FILE",
     "make, show, check or import configuration", "init|show|check|path|import", "--origin --admin --json",
     false},
    {"profiles", "[show NAME]", "list the agents that are known, or show what the profile of one says",
     "show", "--json", false},
    {"trust", "[DIRECTORY]", "accept the project's own file as it is now", kDirectoryWords, "", false},
    {"untrust", "[DIRECTORY]", "forget that the project's own file was accepted", kDirectoryWords, "", false},
    {"doctor", "[--admin-note]", "say what this machine can enforce, and how to get what it can't", "",
     "--admin-note --json", false},
    {"selftest", "[GROUP…] [PROBE…] [--list] [--in-home]",
     "try to break out of a real jail in every known way, and say what held",
     "files|environment|processes|ipc|terminal|system-calls|namespaces|persistence|network",
     "--list --in-home --json", false},
    {"ps", "", "list the sessions that run", "", "--json", false},
    {"inspect", "[SESSION]",
     "show one session: what it is, its limits, connections, questions and live changes", kSessionWords,
     "--json", false},
    {"stop", "SESSION… [--now]", "end sessions", kSessionWords, "--now", false},
    {"allow", "HOST [--session ID]", "let a running session reach a host", "", "--session=ID", false},
    {"block", "HOST [--session ID]", "forbid a running session a host; open connections to it are closed", "",
     "--session=ID", false},
    {"reload", "[--session ID]", "have a running session read its policy files again", "", "--session=ID",
     false},
    {"pending", "[--session ID] [--follow]", "list the questions that sessions wait for an answer to", "",
     "--session=ID --follow --json", false},
    {"approve", "[ID] [--session ID]", "answer a question with yes; without ID the oldest", "",
     "--session=ID", false},
    {"deny", "[ID] [--session ID] [--reason TEXT]", "answer a question with no; without ID the oldest", "",
     "--session=ID --reason=TEXT", false},
    {"monitor", "[--once]", "watch sessions, connections, refusals and limits on one screen", "",
     "--once --json", false},
    {"log", "[SESSION] [--follow] [--denied] [--verify]",
     "show what a session did; without SESSION the newest", kSessionWords,
     "--follow --denied --verify --json", false},
    {"digest", "[SESSION] | --not-needed WHAT | --needed WHAT",
     "show what was refused in a session, by cause, and what would allow it", kSessionWords,
     "--not-needed=WHAT --needed=WHAT --json", false},
    {"notify", "TEXT…", "ring the user's terminal, from inside a jail or outside", "", "", false},
    {"slurm-log", "", "inside a jail: what its session asked of Slurm, and what was refused", "", "", false},
    {"completion", "bash | zsh | fish", "print completion for a shell", "bash|zsh|fish", "", false},
    {"help", "[VERB | TOPIC]", "explain the program, one of its verbs or a topic", kTopicWords, "", false},
    {"version", "", "print the version", "", "", false},
};

constexpr FollowingWords kFollowing[] = {
    {"why", "path", kPathWords},
    {"why", "env", kVariableWords},
    {"policy", "draft", kSessionWords},
    {"config", "check", kPathWords},
    {"config", "import", kPathWords},
    {"profiles", "show", kProfileWords},
    {"stop", "", kSessionWords},
    {"selftest", "", "files|environment|processes|ipc|terminal|system-calls|namespaces|persistence|network"},
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

std::span<const FollowingWords> following_words() {
    return kFollowing;
}

std::vector<VerbFlag> flags_of(const Verb& verb) {
    std::vector<VerbFlag> flags;
    if (verb.flags.empty()) return flags;
    for (std::string_view word : base::split(verb.flags, ' ')) {
        size_t equals = word.find('=');
        bool has_value = equals != std::string_view::npos;
        flags.push_back({word.substr(0, equals), has_value ? word.substr(equals + 1) : std::string_view()});
    }
    return flags;
}

std::span<const RunFlag> run_flags() {
    return kRunFlags;
}

}  // namespace config
