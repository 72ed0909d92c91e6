// SPDX-License-Identifier: MIT
#include "cli/verbs.h"

#include <algorithm>

#include "config/verbs.h"

namespace cli {
namespace {

constexpr Verb kVerbs[] = {
    {"run", run_verb,
     "Exit status: the command's own; 128+n after signal n; 125 when the jail could not be built and nothing "
     "ran;\n"
     "126 and 127 when the command can't be executed or is not there."},
    {"plan", plan_verb,
     "Every file, variable and control with its reason and the place where it was written. Values of "
     "variables\n"
     "are never shown."},
    {"why", why_verb,
     "The verdict, the rule that decides, where it was written, and the smallest change that would allow "
     "it.\n"
     "Exit status: 0 when it is allowed, 1 when it is not."},
    {"policy", policy_verb,
     "show   the rules in force, each with where it was written; inside a jail that jail's own\n"
     "draft  the smallest configuration that would allow what was refused or observed in these sessions, to "
     "be\n"
     "       read before it is used; without SESSION the newest"},
    {"config", config_verb,
     "init     writes a commented starting file for you, unless there is one\n"
     "show     the settings in effect here; --origin adds where each was written\n"
     "check    reads FILE, or all files that count here, and lists every mistake; exit status 1 with any;\n"
     "         --admin reads it as an administrator's ceiling, and says what that leaves to users\n"
     "path     the files that count here, in the order in which they are read\n"
     "import   prints a sandbox.conf of the bash predecessor, the settings of sandbox-runtime or the "
     "sandbox\n"
     "         section of Claude Code's as TOML, and lists what was left out; --admin for a ceiling"},
    {"profiles", profiles_verb,
     "A profile says what an agent needs in the jail: its state, its log-in, its hosts. Your own go to\n"
     "~/.config/agent-sandbox/agents/NAME.toml. --agent NAME takes one, --agent none takes none."},
    {"trust", trust_verb,
     "A project's .agent-sandbox.toml may only narrow what you allow. Once trusted, this very content may "
     "widen it,\n"
     "too; a changed file has to be trusted again. What it widens is printed."},
    {"untrust", untrust_verb, ""},
    {"doctor", doctor_verb,
     "Each backend and each control with the level that it reaches here, and the exact remedy for what is "
     "missing.\n"
     "--admin-note  prints a letter to the administrator instead, the narrowest remedy first\n"
     "Exit status: 0 when a jail can be built here, 1 when it can't."},
    {"selftest", selftest_verb,
     "Every probe is tried outside first, where it must succeed, and then in a real jail. All is done in a "
     "scratch\n"
     "directory, also below --project DIR; it and everything else that was made is removed again.\n"
     "GROUP or PROBE  only these; --list shows them and what each attempts\n"
     "--backend B     with this backend\n"
     "--in-home       plants in the home directory itself, for an account made for the test; firejail needs "
     "it\n"
     "Exit status: 0 when all held, 1 when one escaped or could not be judged."},
    {"ps", ps_verb,
     "An id may be shortened everywhere, to four digits or more, as long as one session has it."},
    {"inspect", inspect_verb, "Without SESSION the only one that runs."},
    {"stop", stop_verb,
     "The command is asked to end and may tidy up.\n"
     "--now  kills at once\n"
     "Exit status: 0 when all have ended, 1 when one still runs after 10 seconds."},
    {"allow", allow_verb,
     "HOST is what --allow-host takes. It counts for this session until it ends; no file is changed.\n"
     "--session ID  which one; without it the only one that runs"},
    {"block", block_verb,
     "HOST is what --block-host takes. It counts for this session until it ends; no file is changed.\n"
     "--session ID  which one; without it the only one that runs"},
    {"reload", reload_verb,
     "All files count or, where one of them has a mistake, none. Settings that need a new start are named.\n"
     "--session ID  which one; without it the only one that runs"},
    {"pending", pending_verb,
     "With --ask a session holds a connection to a host that no rule knows, and asks here.\n"
     "--session ID  only the questions of this one\n"
     "--follow      goes on and prints each new question as a line"},
    {"approve", approve_verb,
     "The host and port are allowed for the rest of the session.\n"
     "--session ID  which one, where several have questions"},
    {"deny", deny_verb,
     "The host and port are refused for the rest of the session.\n"
     "--session ID   which one, where several have questions\n"
     "--reason TEXT  is told to the agent"},
    {"monitor", monitor_verb,
     "Keys: up and down or k and j select, a and d answer the oldest question, s ends the session, ? helps, "
     "q leaves.\n"
     "--once  prints the screen once; with --json what all sessions say of themselves"},
    {"log", log_verb,
     "SESSION is an id, the beginning of one, last, or the path of a record. Times are UTC.\n"
     "--follow  goes on while the session runs\n"
     "--denied  only what was refused, or would have been\n"
     "--verify  checks the chain of hashes (audit.chain) instead; exit status 1 when it does not hold\n"
     "--json    the lines as they were recorded"},
    {"digest", digest_verb,
     "Each with how often, the rule, and the smallest change that would allow it.\n"
     "--not-needed WHAT  leaves it out from now on, in the project here; WHAT as it is shown\n"
     "--needed WHAT      shows it again"},
    {"notify", notify_verb,
     "A bell, and the text where the terminal or tmux shows notices; at most one in a second. Only plain "
     "text of it\n"
     "is shown, in one line. Inside a jail the program is /run/agent-sandbox/agent-sandbox.\n"
     "Exit status: 0, or 1 when there is no terminal to ring."},
    {"slurm-log", slurm_log_verb, ""},
    {"completion", completion_verb,
     "bash  mkdir -p ~/.local/share/bash-completion/completions &&\n"
     "      agent-sandbox completion bash > ~/.local/share/bash-completion/completions/agent-sandbox\n"
     "zsh   agent-sandbox completion zsh > _agent-sandbox, in a directory of $fpath\n"
     "fish  mkdir -p ~/.config/fish/completions &&\n"
     "      agent-sandbox completion fish > ~/.config/fish/completions/agent-sandbox.fish"},
    {"help", help_verb,
     "help settings lists what a configuration file can say.\n"
     "help backends shows what each backend (native, bwrap, firejail, landlock) reaches, and which network\n"
     "modes it offers."},
    {"version", version_verb, ""},
};

}  // namespace

const Verb* find_verb(std::string_view name) {
    const Verb* verb = std::ranges::find(kVerbs, name, &Verb::name);
    return verb == std::end(kVerbs) ? nullptr : verb;
}

std::string usage_of(std::string_view name) {
    std::string usage = "usage: agent-sandbox " + std::string(name);
    if (const config::Verb* verb = config::find_verb(name); verb && !verb->arguments.empty()) {
        usage += " " + std::string(verb->arguments);
    }
    return usage;
}

}  // namespace cli
