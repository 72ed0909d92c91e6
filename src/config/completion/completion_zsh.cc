// SPDX-License-Identifier: MIT
// Completion for zsh; see completion_bash.cc.
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "config/completion/completion_flags.h"
#include "config/reference/reference.h"
#include "config/verbs.h"

namespace config {
namespace {

// Escapes text inside '...[...]' of an _arguments specification and after the colon of _describe.
std::string escaped(std::string_view help) {
    std::string text;
    for (char letter : help) {
        if (letter == '[' || letter == ']' || letter == ':') text += '\\';
        text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    }
    return text;
}

std::string action_of(const Offer& offer) {
    switch (offer.what) {
        case Completes::nothing:
            return " ";
        case Completes::words:
            return "compadd -- " + base::join(offer.words, " ");
        case Completes::openings:
            return "compadd -S \"\" -- " + base::join(offer.words, " ");
        case Completes::paths:
            return "_files";
        case Completes::directories:
            return "_files -/";
        case Completes::variables:
            return "_parameters -g \"*export*\"";
        case Completes::sessions:
        case Completes::presets:
        case Completes::profiles:
            return "compadd -- $(" + std::string(question_for(offer.what)) + ")";
    }
    return {};
}

std::string specification(const Flag& flag) {
    std::string text = "'*" + flag.name + (flag.takes_value ? "=" : "");
    if (!flag.help.empty()) text += "[" + escaped(flag.help) + "]";
    if (flag.takes_value) {
        bool is_silent = flag.value.what == Completes::nothing;
        text += is_silent ? ":value: " : ":value:{" + action_of(flag.value) + "}";
    }
    return text + "'";
}

std::string run_specifications() {
    std::string lines;
    for (const Flag& flag : all_flags()) lines += "    " + specification(flag) + "\n";
    return lines;
}

std::string verb_list() {
    std::string lines;
    for (const Verb& verb : verbs()) {
        lines += "        '" + std::string(verb.name) + ":" + escaped(verb.help) + "'\n";
    }
    return lines;
}

std::string verb_cases() {
    std::string cases;
    for (const Verb& verb : verbs()) {
        if (verb.takes_run_flags) continue;
        cases += "        " + std::string(verb.name) + ") _arguments";
        for (const Flag& flag : own_flags_of(verb.name)) cases += " " + specification(flag);
        cases += " '*: :_agent_sandbox_word' ;;\n";
    }
    return cases;
}

std::string position_cases() {
    std::string cases;
    for (const Position& position : verb_positions()) {
        std::string first = position.first == "*" ? "?*" : std::string(position.first);
        cases += "        " + std::string(position.verb) + ":" + first + ") " + action_of(position.offer) +
                 " ;;\n";
    }
    return cases;
}

}  // namespace

std::string zsh_completion() {
    return "#compdef agent-sandbox\n# agent-sandbox completion zsh > a directory of $fpath, as "
           "_agent-sandbox\n\n"
           "local -a _agent_sandbox_flags=(\n" +
           run_specifications() +
           ")\n\n"
           "_agent_sandbox_first() {\n    local -a verbs=(\n" +
           verb_list() +
           "    )\n    (( CURRENT == dashes + 1 )) || _describe -t verbs verb verbs\n"
           "    _command_names -e\n}\n\n"
           "# A word of a verb, by the first one that it has.\n"
           "_agent_sandbox_word() {\n    local -a before=(${(@)words[2,CURRENT-1]:#-*})\n"
           "    case $words[1]:$before[1] in\n" +
           position_cases() +
           "        *) _message 'no more words' ;;\n    esac\n}\n\n"
           "# Behind the flags: a verb and its words, or a command and its arguments.\n"
           "_agent_sandbox_rest() {\n"
           "    if [[ -n $behind_dashes && $words[1] == $behind_dashes ]]; then _normal; return; fi\n"
           "    case $words[1] in\n        " +
           running_verb_names("|") +
           ") _arguments -S -A '-*' $_agent_sandbox_flags '1: :_command_names -e' '*:: :_normal' ;;\n" +
           verb_cases() +
           "        *) _normal ;;\n    esac\n}\n\n"
           "# Behind -- a verb's name is a command.\n"
           "local -i dashes=${words[(i)--]}\nlocal behind_dashes=$words[dashes+1]\n"
           "_arguments -S -A '-*' $_agent_sandbox_flags '1: :_agent_sandbox_first' "
           "'*:: :_agent_sandbox_rest'\n";
}

}  // namespace config
