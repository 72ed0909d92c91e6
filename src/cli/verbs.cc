// SPDX-License-Identifier: MIT
#include "cli/verbs.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"

namespace cli {
namespace {

// Verbs that are not listed are the last rows, so that verbs() is one span.
constexpr Verb kVerbs[] = {
    {.name = "run",
     .perform = run_verb,
     .usage = "[OPTIONS] [--] COMMAND [ARGS…]",
     .help = "run a command in the jail; the word itself may be left out",
     .takes_run_flags = true,
     .details = "Exit status: the command's own; 128+n after signal n; 125 when the jail could not be built "
                "and nothing ran;\n"
                "126 and 127 when the command can't be executed or is not there."},
    {.name = "plan",
     .perform = plan_verb,
     .usage = "[OPTIONS] [--] COMMAND [ARGS…]",
     .help = "show the jail as data, each item with reason and origin; run nothing",
     .flags = "--json",
     .takes_run_flags = true,
     .details = "Every file, variable and control with its reason and the place where it was written. Values "
                "of variables\n"
                "are never shown."},
    {.name = "why",
     .perform = why_verb,
     .usage = "path P [--write] | env NAME | host H[:PORT] | syscall NAME | slurm [COMMAND] OPTION",
     .help = "say what decides about a path, a variable, a host, a system call or an option of Slurm, and "
             "what would allow it",
     .words = "path @path|env @variable|host|syscall|slurm @slurm",
     .flags = "--write --json",
     .details = "The verdict, the rule that decides, where it was written, and the smallest change that "
                "would allow it.\n"
                "Exit status: 0 when it is allowed, 1 when it is not."},
    {.name = "policy",
     .perform = policy_verb,
     .usage = "[show] | draft [SESSION…]",
     .help = "show what is in force, inside a jail or here; or make a file for review from what was refused",
     .words = "show|draft @session",
     .flags = "--json",
     .details = "show   the rules in force, each with where it was written; inside a jail that jail's own\n"
                "draft  the smallest configuration that would allow what was refused or observed in these "
                "sessions, to be\n"
                "       read before it is used; without SESSION the newest"},
    {.name = "config",
     .perform = config_verb,
     .usage = "init | show | check [--admin] [FILE] | path | import [--admin] FILE",
     .help = "make, show, check or import configuration",
     .words = "init|show|check @path|path|import @path",
     .flags = "--origin --admin --json",
     .details =
         "init     writes a commented starting file for you, unless there is one\n"
         "show     the settings in effect here; --origin adds where each was written\n"
         "check    reads FILE, or all files that count here, and lists every mistake; exit status 1 with "
         "any;\n"
         "         --admin reads it as an administrator's ceiling, and says what that leaves to users\n"
         "path     the files that count here, in the order in which they are read\n"
         "import   prints a sandbox.conf of the bash predecessor, the settings of sandbox-runtime or the "
         "sandbox\n"
         "         section of Claude Code's as TOML, and lists what was left out; --admin for a ceiling"},
    {.name = "profiles",
     .perform = profiles_verb,
     .usage = "[show NAME]",
     .help = "list the agents that are known, or show what the profile of one says",
     .words = "show @profile",
     .flags = "--json",
     .details =
         "A profile says what an agent needs in the jail: its state, its log-in, its hosts. Your own go to\n"
         "~/.config/agent-sandbox/agents/NAME.toml. --agent NAME takes one, --agent none takes none."},
    {.name = "trust",
     .perform = trust_verb,
     .usage = "[DIRECTORY]",
     .help = "accept the project's own file as it is now",
     .words = "@directory",
     .details = "A project's .agent-sandbox.toml may only narrow what you allow. Once trusted, this very "
                "content may widen it,\n"
                "too; a changed file has to be trusted again. What it widens is printed."},
    {.name = "untrust",
     .perform = untrust_verb,
     .usage = "[DIRECTORY]",
     .help = "forget that the project's own file was accepted",
     .words = "@directory"},
    {.name = "doctor",
     .perform = doctor_verb,
     .usage = "[--admin-note]",
     .help = "say what this machine can enforce, and how to get what it can't",
     .flags = "--admin-note --json",
     .details = "Each backend and each control with the level that it reaches here, and the exact remedy for "
                "what is missing.\n"
                "--admin-note  prints a letter to the administrator instead, the narrowest remedy first\n"
                "Exit status: 0 when a jail can be built here, 1 when it can't."},
    {.name = "selftest",
     .perform = selftest_verb,
     .usage = "[GROUP…] [PROBE…] [--list] [--in-home]",
     .help = "try to break out of a real jail in every known way, and say what held",
     .words = "@group @group",
     .flags = "--list --in-home --json",
     .details =
         "Every probe is tried outside first, where it must succeed, and then in a real jail. All is done in "
         "a scratch\n"
         "directory, also below --project DIR; it and everything else that was made is removed again.\n"
         "GROUP or PROBE  only these; --list shows them and what each attempts\n"
         "--backend B     with this backend\n"
         "--in-home       plants in the home directory itself, for an account made for the test; firejail "
         "needs it\n"
         "Exit status: 0 when all held, 1 when one escaped or could not be judged."},
    {.name = "ps",
     .perform = ps_verb,
     .help = "list the sessions that run",
     .flags = "--json",
     .hidden_flags = "--ids",
     .details = "An id may be shortened everywhere, to four digits or more, as long as one session has it."},
    {.name = "inspect",
     .perform = inspect_verb,
     .usage = "[SESSION]",
     .help = "show one session: what it is, its limits, connections, questions and live changes",
     .words = "@session",
     .flags = "--json",
     .details = "Without SESSION the only one that runs."},
    {.name = "stop",
     .perform = stop_verb,
     .usage = "SESSION… [--now]",
     .help = "end sessions",
     .words = "@session @session",
     .flags = "--now",
     .details = "The command is asked to end and may tidy up.\n"
                "--now  kills at once\n"
                "Exit status: 0 when all have ended, 1 when one still runs after 10 seconds."},
    {.name = "allow",
     .perform = allow_verb,
     .usage = "HOST [--session ID]",
     .help = "let a running session reach a host",
     .flags = "--session=ID",
     .details =
         "HOST is what --allow-host takes. It counts for this session until it ends; no file is changed.\n"
         "--session ID  which one; without it the only one that runs"},
    {.name = "block",
     .perform = block_verb,
     .usage = "HOST [--session ID]",
     .help = "forbid a running session a host; open connections to it are closed",
     .flags = "--session=ID",
     .details =
         "HOST is what --block-host takes. It counts for this session until it ends; no file is changed.\n"
         "--session ID  which one; without it the only one that runs"},
    {.name = "reload",
     .perform = reload_verb,
     .usage = "[--session ID]",
     .help = "have a running session read its policy files again",
     .flags = "--session=ID",
     .details = "All files count or, where one of them has a mistake, none. Settings that need a new start "
                "are named.\n"
                "--session ID  which one; without it the only one that runs"},
    {.name = "pending",
     .perform = pending_verb,
     .usage = "[--session ID] [--follow]",
     .help = "list the questions that sessions wait for an answer to",
     .flags = "--session=ID --follow --json",
     .details = "With --ask a session holds a connection to a host that no rule knows, and asks here.\n"
                "--session ID  only the questions of this one\n"
                "--follow      goes on and prints each new question as a line"},
    {.name = "approve",
     .perform = approve_verb,
     .usage = "[ID] [--session ID]",
     .help = "answer a question with yes; without ID the oldest",
     .flags = "--session=ID",
     .details = "The host and port are allowed for the rest of the session.\n"
                "--session ID  which one, where several have questions"},
    {.name = "deny",
     .perform = deny_verb,
     .usage = "[ID] [--session ID] [--reason TEXT]",
     .help = "answer a question with no; without ID the oldest",
     .flags = "--session=ID --reason=TEXT",
     .details = "The host and port are refused for the rest of the session.\n"
                "--session ID   which one, where several have questions\n"
                "--reason TEXT  is told to the agent"},
    {.name = "monitor",
     .perform = monitor_verb,
     .usage = "[--once]",
     .help = "watch sessions, connections, refusals and limits on one screen",
     .flags = "--once --json",
     .details = "Keys: up and down or k and j select, a and d answer the oldest question, s ends the "
                "session, ? helps, q leaves.\n"
                "--once  prints the screen once; with --json what all sessions say of themselves"},
    {.name = "log",
     .perform = log_verb,
     .usage = "[SESSION] [--follow] [--denied] [--verify]",
     .help = "show what a session did; without SESSION the newest",
     .words = "@session",
     .flags = "--follow --denied --verify --json",
     .details =
         "SESSION is an id, the beginning of one, last, or the path of a record. Times are UTC.\n"
         "--follow  goes on while the session runs\n"
         "--denied  only what was refused, or would have been\n"
         "--verify  checks the chain of hashes (audit.chain) instead; exit status 1 when it does not hold\n"
         "--json    the lines as they were recorded"},
    {.name = "digest",
     .perform = digest_verb,
     .usage = "[SESSION] | --not-needed WHAT | --needed WHAT",
     .help = "show what was refused in a session, by cause, and what would allow it",
     .words = "@session",
     .flags = "--not-needed=WHAT --needed=WHAT --json",
     .details = "Each with how often, the rule, and the smallest change that would allow it.\n"
                "--not-needed WHAT  leaves it out from now on, in the project here; WHAT as it is shown\n"
                "--needed WHAT      shows it again"},
    {.name = "notify",
     .perform = notify_verb,
     .usage = "TEXT…",
     .help = "ring the user's terminal, from inside a jail or outside",
     .details = "A bell, and the text where the terminal or tmux shows notices; at most one in a second. "
                "Only plain text of it\n"
                "is shown, in one line. Inside a jail the program is /run/agent-sandbox/agent-sandbox.\n"
                "Exit status: 0, or 1 when there is no terminal to ring."},
    {.name = "slurm-log",
     .perform = slurm_log_verb,
     .help = "inside a jail: what its session asked of Slurm, and what was refused"},
    {.name = "completion",
     .perform = completion_verb,
     .usage = "bash | zsh | fish",
     .help = "print completion for a shell",
     .words = "bash|zsh|fish",
     .details =
         "bash  mkdir -p ~/.local/share/bash-completion/completions &&\n"
         "      agent-sandbox completion bash > ~/.local/share/bash-completion/completions/agent-sandbox\n"
         "zsh   agent-sandbox completion zsh > _agent-sandbox, in a directory of $fpath\n"
         "fish  mkdir -p ~/.config/fish/completions &&\n"
         "      agent-sandbox completion fish > ~/.config/fish/completions/agent-sandbox.fish"},
    {.name = "help",
     .perform = help_verb,
     .usage = "[VERB | TOPIC]",
     .help = "explain the program, one of its verbs or a topic",
     .words = "@topic|@verb",
     .hidden_flags = "--reference --manual",
     .details = "help settings lists what a configuration file can say.\n"
                "help backends shows what each backend (native, bwrap, firejail, landlock) reaches, and "
                "which network\n"
                "modes it offers."},
    {.name = "version", .perform = version_verb, .help = "print the version"},
    {.name = "__complete",
     .perform = complete_verb,
     .usage = "bash | zsh | fish -- WORD…",
     .help = "answer a shell that completes a command line",
     .is_hidden = true},
};
static_assert(std::ranges::is_partitioned(kVerbs, [](const Verb& verb) { return !verb.is_hidden; }));

void add_flags(std::vector<VerbFlag>& flags, std::string_view words) {
    if (words.empty()) return;
    for (std::string_view word : base::split(words, ' ')) {
        size_t equals = word.find('=');
        bool has_value = equals != std::string_view::npos;
        flags.push_back({word.substr(0, equals), has_value ? word.substr(equals + 1) : std::string_view()});
    }
}

}  // namespace

std::span<const Verb> verbs() {
    return {kVerbs, std::ranges::find_if(kVerbs, &Verb::is_hidden)};
}

const Verb* find_verb(std::string_view name) {
    const Verb* verb = std::ranges::find(kVerbs, name, &Verb::name);
    return verb == std::end(kVerbs) ? nullptr : verb;
}

std::string usage_of(std::string_view name) {
    std::string usage = base::format("usage: agent-sandbox {}", name);
    if (const Verb* verb = find_verb(name); verb && !verb->usage.empty()) {
        usage += base::format(" {}", verb->usage);
    }
    return usage;
}

std::vector<VerbFlag> flags_of(const Verb& verb) {
    std::vector<VerbFlag> flags;
    add_flags(flags, verb.flags);
    return flags;
}

std::vector<VerbFlag> accepted_flags_of(const Verb& verb) {
    std::vector<VerbFlag> flags = flags_of(verb);
    add_flags(flags, verb.hidden_flags);
    return flags;
}

}  // namespace cli
