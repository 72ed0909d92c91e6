// SPDX-License-Identifier: MIT
// Completion for bash from the table of settings and the tables of verbs and flags. After the first word that
// is neither a flag nor a verb, all words belong to the command, and bash uses the command's own completion.
//
// bash splits words at "=", ":" and "@", and replaces only the last piece by the completion. So the script
// joins the words first and removes the text before the last piece at the end.
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "config/completion/completion_flags.h"
#include "config/reference/reference.h"
#include "config/verbs.h"

namespace config {
namespace {

std::string action_of(const Offer& offer) {
    switch (offer.what) {
        case Completes::nothing:
            return ":";
        case Completes::words:
            return "_agent_sandbox_words '" + base::join(offer.words, " ") + "'";
        case Completes::openings:
            return "_agent_sandbox_openings '" + base::join(offer.words, " ") + "'";
        case Completes::paths:
            return "_agent_sandbox_paths -f";
        case Completes::directories:
            return "_agent_sandbox_paths -d";
        case Completes::variables:
            return "_agent_sandbox_variables";
        case Completes::sessions:
        case Completes::presets:
        case Completes::profiles:
            return "_agent_sandbox_words \"$(" + std::string(question_for(offer.what)) + ")\"";
    }
    return {};
}

// "        *:--flag) action ;;" for every flag that takes a value.
std::string value_cases(const std::vector<Flag>& flags) {
    std::string cases;
    for (const Flag& flag : flags) {
        if (flag.takes_value) cases += "        *:" + flag.name + ") " + action_of(flag.value) + " ;;\n";
    }
    return cases;
}

std::string own_value_cases() {
    std::string cases;
    for (const Verb& verb : verbs()) {
        for (const Flag& flag : own_flags_of(verb.name)) {
            if (!flag.takes_value) continue;
            cases += "        " + std::string(verb.name) + ":" + flag.name + ") " + action_of(flag.value) +
                     " ;;\n";
        }
    }
    return cases;
}

std::string names_of(const std::vector<Flag>& flags) {
    std::vector<std::string> names;
    for (const Flag& flag : flags) names.push_back(flag.name);
    return base::join(names, " ");
}

std::string flag_cases() {
    std::string cases;
    for (const Verb& verb : verbs()) {
        if (verb.takes_run_flags) continue;
        cases += "        " + std::string(verb.name) + ") _agent_sandbox_words '" +
                 names_of(own_flags_of(verb.name)) + "' ;;\n";
    }
    return cases + "        *) _agent_sandbox_words '" + names_of(all_flags()) + "' ;;\n";
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

constexpr std::string_view kHelpers = R"~(
_agent_sandbox_words() {
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$1" -- "$current")
}

_agent_sandbox_openings() {
    compopt -o nospace 2>/dev/null
    _agent_sandbox_words "$1"
}

_agent_sandbox_variables() {
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -e -- "$current")
}

# Line by line, since names may hold blanks and stars. A name with a line break comes as two that are not there.
_agent_sandbox_paths() {
    local name
    compopt -o filenames 2>/dev/null
    while IFS= read -r name; do
        [[ $name == '~'* || -e $name || -L $name ]] && COMPREPLY+=("$name")
    done < <(compgen "$1" -- "$current")
}

# What the shell alone knows (aliases, functions, its own words) can't be started in a jail.
_agent_sandbox_programs() {
    local name
    local -A inner=()
    while IFS= read -r name; do
        [[ -n $name ]] && inner[$name]=1
    done < <(compgen -A alias -A builtin -A keyword -A function -- "$current")
    compopt -o filenames 2>/dev/null
    while IFS= read -r name; do
        [[ $current$name != */* || $name == '~'* || -e $name ]] || continue
        [[ -z ${inner[$name]} ]] || type -P -- "$name" >/dev/null || continue
        COMPREPLY+=("$name")
    done < <(compgen -c -- "$current" | sort -u)
}

# The command begins at word $1: its own completion is asked where there is one.
_agent_sandbox_command() {
    if (( $1 == ${#words[@]} - 1 )); then
        _agent_sandbox_programs
    elif declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "${starts[$1]}"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "${starts[$1]}"
    else
        _agent_sandbox_paths -f
    fi
}

# Fills words with the words up to the cursor as they were typed, starts with where each begins in COMP_WORDS, and
# pieces with what of the last one bash keeps.
_agent_sandbox_join() {
    local rest=$COMP_LINE stripped word i
    for (( i = 0; i <= COMP_CWORD; i++ )); do
        word=${COMP_WORDS[i]}
        stripped=${rest#"${rest%%[![:blank:]]*}"}
        if (( i == 0 )) || [[ $stripped != "$rest" || -z $rest ]]; then
            words+=("$word")
            starts+=("$i")
            pieces=
        else
            pieces+=${COMP_WORDS[i-1]}
            words[-1]+=$word
        fi
        rest=${stripped#"$word"}
    done
    [[ $word == [=:] ]] && pieces+=$word
    # At this one it breaks words, too, and yet takes it along with what follows.
    pieces=${pieces%@}
}
)~";

constexpr std::string_view kMain = R"~(
_agent_sandbox() {
    local words=() starts=() pieces='' current='' verb='' first='' flag='' front='' last i
    COMPREPLY=()
    _agent_sandbox_join
    last=$(( ${#words[@]} - 1 ))
    current=${words[last]}
    for (( i = 1; i < last; i++ )); do
        case ${words[i]} in
            --) if _agent_sandbox_runs "$verb"; then
                    _agent_sandbox_command $(( i + 1 ))
                    return
                fi ;;
            --*=*) ;;
            -*) if _agent_sandbox_takes_value "$verb:${words[i]}"; then
                    (( i + 1 == last )) && flag=${words[i]}
                    (( ++i ))
                fi ;;
            *)  if [[ -z $verb ]] && _agent_sandbox_is_verb "${words[i]}"; then
                    verb=${words[i]}
                elif _agent_sandbox_runs "$verb"; then
                    _agent_sandbox_command "$i"
                    return
                elif [[ -z $first ]]; then
                    first=${words[i]}
                fi ;;
        esac
    done
    if [[ -z $flag && $current == --*=* ]]; then
        flag=${current%%=*} front=${current%%=*}= current=${current#*=}
    fi
    if [[ -n $flag ]]; then
        _agent_sandbox_value "$verb:$flag"
    elif [[ $current == -* ]]; then
        _agent_sandbox_flags "$verb"
    elif _agent_sandbox_runs "$verb"; then
        [[ -z $verb ]] && _agent_sandbox_words "$_agent_sandbox_verbs"
        _agent_sandbox_command "$last"
    else
        _agent_sandbox_position "$verb:$first"
    fi
    COMPREPLY=("${COMPREPLY[@]/#/$front}")
    COMPREPLY=("${COMPREPLY[@]#"$pieces"}")
}

complete -F _agent_sandbox agent-sandbox
)~";

std::string with_value() {
    std::vector<std::string> patterns;
    for (const Flag& flag : all_flags()) {
        if (flag.takes_value) patterns.push_back("*:" + flag.name);
    }
    for (const Verb& verb : verbs()) {
        for (const Flag& flag : own_flags_of(verb.name)) {
            if (flag.takes_value) patterns.push_back(std::string(verb.name) + ":" + flag.name);
        }
    }
    return base::join(patterns, "|");
}

std::string function(std::string_view name, const std::string& cases) {
    return "\n" + std::string(name) + "() {\n    case $1 in\n" + cases + "    esac\n}\n";
}

std::string question(std::string_view name, const std::string& patterns) {
    return "\n" + std::string(name) + "() {\n    case $1 in\n        " + patterns +
           ") return 0 ;;\n    esac\n    return 1\n}\n";
}

}  // namespace

std::string bash_completion() {
    return "# bash completion for agent-sandbox: agent-sandbox completion bash > "
           "~/.local/share/bash-completion/completions/agent-sandbox\n\n_agent_sandbox_verbs='" +
           verb_names(" ") + "'\n" + std::string(kHelpers) +
           question("_agent_sandbox_takes_value", with_value()) +
           question("_agent_sandbox_is_verb", verb_names("|")) + "\n# Whether a command follows." +
           question("_agent_sandbox_runs", "''|" + running_verb_names("|")) +
           function("_agent_sandbox_value", own_value_cases() + value_cases(all_flags())) +
           function("_agent_sandbox_flags", flag_cases()) +
           function("_agent_sandbox_position", position_cases()) + std::string(kMain);
}

}  // namespace config
