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
    {"config", config_verb,
     "init     writes a commented starting file for you, unless there is one\n"
     "show     the settings in effect here; --origin adds where each was written\n"
     "check    reads FILE, or all files that count here, and lists every mistake; exit status 1 with any\n"
     "path     the files that count here, in the order in which they are read\n"
     "import   prints a sandbox.conf of the bash predecessor as TOML, without running it"},
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
    {"notify", notify_verb,
     "A bell, and the text where the terminal or tmux shows notices; at most one in a second. Only plain "
     "text of it\n"
     "is shown, in one line. Inside a jail the program is /run/agent-sandbox/agent-sandbox.\n"
     "Exit status: 0, or 1 when there is no terminal to ring."},
    {"slurm-log", slurm_log_verb, ""},
    {"completion", completion_verb,
     "bash:  agent-sandbox completion bash > ~/.local/share/bash-completion/completions/agent-sandbox\n"
     "zsh:   agent-sandbox completion zsh > _agent-sandbox, in a directory of $fpath\n"
     "fish:  agent-sandbox completion fish > ~/.config/fish/completions/agent-sandbox.fish"},
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
