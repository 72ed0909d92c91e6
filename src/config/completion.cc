// SPDX-License-Identifier: MIT
// Completion for three shells from the table of settings and the tables of verbs and flags. Behind the first
// word that is neither flag nor verb everything belongs to the command, whose own completion is asked.
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "config/completion_flags.h"
#include "config/reference.h"
#include "config/verbs.h"

namespace config {
namespace {

std::string verb_names() {
    std::string names;
    for (const Verb& verb : verbs()) names += (names.empty() ? "" : " ") + std::string(verb.name);
    return names;
}

// What a verb completes besides its own flags; `running` is how a shell asks for the sessions that run.
std::string verb_words(const Verb& verb, std::string_view running) {
    if (verb.words == kSessionWords) return std::string(running);
    return base::join(words_of(verb.words), " ");
}

std::string verb_flags(const Verb& verb) {
    std::string names;
    for (const VerbFlag& flag : flags_of(verb)) names += (names.empty() ? "" : " ") + std::string(flag.flag);
    return names;
}

constexpr std::string_view kRunning = "$(agent-sandbox ps --ids 2>/dev/null)";
constexpr std::string_view kRunningInFish = "(agent-sandbox ps --ids 2>/dev/null)";

// ---- bash
// -----------------------------------------------------------------------------------------------------------

std::string bash_value_cases(const std::vector<Flag>& flags) {
    std::string cases;
    for (const Flag& flag : flags) {
        if (!flag.takes_value) continue;
        std::string action = "return";
        if (flag.completes == Completes::words)
            action = "_agent_sandbox_words '" + base::join(flag.words, " ") + "'";
        if (flag.completes == Completes::paths) action = "_agent_sandbox_paths -f";
        if (flag.completes == Completes::directories) action = "_agent_sandbox_paths -d";
        cases += "        " + flag.name + ") " + action + " ;;\n";
    }
    return cases;
}

std::string bash_verb_cases() {
    std::string cases;
    for (const Verb& verb : verbs()) {
        if (verb.takes_run_flags) continue;
        std::string words = verb_words(verb, kRunning);
        if (verb.name == "help") words = verb_names() + " settings";
        if (!verb.flags.empty()) words += (words.empty() ? "" : " ") + verb_flags(verb);
        cases += "        " + std::string(verb.name) + ") _agent_sandbox_words '" + words + "' ;;\n";
    }
    return cases;
}

constexpr std::string_view kBashHelpers = R"~(
_agent_sandbox_words() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

# Line by line, since names may hold blanks and stars.
_agent_sandbox_paths() {
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$1" -- "$current")
}
)~";

constexpr std::string_view kBashMain = R"~(
# The command begins at word $1: its own completion is asked where there is one.
_agent_sandbox_command() {
    if (( COMP_CWORD > $1 )) && declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif (( COMP_CWORD > $1 )); then
        _agent_sandbox_paths -f
    else
        _agent_sandbox_paths -c
    fi
}

_agent_sandbox() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb= i=1
    COMPREPLY=()
    # bash takes --flag=value apart at the equals sign.
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for (( ; i < COMP_CWORD; i++ )); do
        case ${COMP_WORDS[i]} in
            --) _agent_sandbox_command $(( i + 1 )); return ;;
            -*) if _agent_sandbox_takes_value "${COMP_WORDS[i]}"; then
                    (( i++ ))
                    [[ ${COMP_WORDS[i]} == = ]] && (( i++ ))
                fi ;;
            *)  if [[ -z $verb ]] && _agent_sandbox_is_verb "${COMP_WORDS[i]}"; then
                    verb=${COMP_WORDS[i]}
                    _agent_sandbox_verb "$verb" && return
                else
                    _agent_sandbox_command "$i"; return
                fi ;;
        esac
    done
    if _agent_sandbox_takes_value "$previous"; then
        _agent_sandbox_value "$previous"
    elif [[ $current == -* ]]; then
        _agent_sandbox_flags
    else
        [[ -z $verb ]] && _agent_sandbox_words "$_agent_sandbox_verbs"
        _agent_sandbox_command "$COMP_CWORD"
    fi
}

complete -F _agent_sandbox agent-sandbox
)~";

// ---- zsh
// ------------------------------------------------------------------------------------------------------------

// Inside '...[...]' of an _arguments specification.
std::string zsh_help(std::string_view help) {
    std::string escaped;
    for (char letter : help) {
        if (letter == '[' || letter == ']' || letter == ':') escaped += '\\';
        escaped += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    }
    return escaped;
}

std::string zsh_action(const Flag& flag) {
    if (!flag.takes_value) return {};
    switch (flag.completes) {
        case Completes::nothing:
            return ":value: ";
        case Completes::words:
            return ":value:(" + base::join(flag.words, " ") + ")";
        case Completes::paths:
            return ":path:_files";
        case Completes::directories:
            return ":directory:_files -/";
    }
    return {};
}

std::string zsh_specifications(const std::vector<Flag>& flags) {
    std::string lines;
    for (const Flag& flag : flags) {
        lines += "        '*" + flag.name + (flag.takes_value ? "=" : "") + "[" + zsh_help(flag.help) + "]" +
                 zsh_action(flag) + "' \\\n";
    }
    return lines;
}

std::string zsh_verb_list() {
    std::string lines;
    for (const Verb& verb : verbs()) {
        lines += "        '" + std::string(verb.name) + ":" + zsh_help(verb.help) + "'\n";
    }
    return lines;
}

std::string zsh_verb_cases() {
    std::string cases;
    for (const Verb& verb : verbs()) {
        if (verb.takes_run_flags || (verb.words.empty() && verb.flags.empty())) continue;
        cases += "        " + std::string(verb.name) + ") compadd -- " + verb_words(verb, kRunning) +
                 (verb.words.empty() ? "" : " ") + verb_flags(verb) + "; _files ;;\n";
    }
    return cases;
}

// ---- fish
// -----------------------------------------------------------------------------------------------------------

std::string fish_quoted(std::string_view text) {
    std::string quoted = "'";
    for (char letter : text) {
        if (letter == '\'' || letter == '\\') quoted += '\\';
        quoted += letter;
    }
    return quoted + "'";
}

std::string fish_flag_line(const Flag& flag) {
    std::string line = "complete -c agent-sandbox -n __agent_sandbox_is_open -l " + flag.name.substr(2);
    switch (flag.completes) {
        case Completes::nothing:
            line += flag.takes_value ? " -x" : " -f";
            break;
        case Completes::words:
            line += " -x -a " + fish_quoted(base::join(flag.words, " "));
            break;
        case Completes::paths:
            line += " -r -F";
            break;
        case Completes::directories:
            line += " -x -a '(__fish_complete_directories)'";
            break;
    }
    return line + " -d " + fish_quoted(flag.help) + "\n";
}

std::string fish_value_flags(const std::vector<Flag>& flags) {
    std::string names;
    for (const Flag& flag : flags) {
        if (flag.takes_value) names += " " + flag.name;
    }
    return names;
}

constexpr std::string_view kFishHelpers = R"~(
# The words behind the flags of agent-sandbox: a verb, or a command and its arguments.
function __agent_sandbox_rest
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]
        switch $words[1]
            case --
                set -e words[1]
                set -p words ''
                break
            case '--*=*'
                set -e words[1]
            case '-*'
                contains -- $words[1] $__agent_sandbox_value_flags
                and set -e words[1]
                set -e words[1]
            case run plan
                set -e words[1]
            case '*'
                break
        end
    end
    printf '%s\n' $words
end

function __agent_sandbox_is_open
    test -z (__agent_sandbox_rest | string collect)
end

function __agent_sandbox_verb_is
    test (__agent_sandbox_rest)[1] = $argv[1] 2>/dev/null
end

# The command's own completion, for everything behind it.
function __agent_sandbox_command
    set -l rest (__agent_sandbox_rest | string match -v -- '')
    set -q rest[1]; and contains -- $rest[1] $__agent_sandbox_verbs; and return
    complete -C (string join -- ' ' (string escape -- $rest) (commandline -ct))
end
)~";

}  // namespace

std::string bash_completion() {
    std::vector<Flag> flags = all_flags();
    std::string names, with_value, alternatives = verb_names();
    for (const Flag& flag : flags) {
        names += (names.empty() ? "" : " ") + flag.name;
        if (flag.takes_value) with_value += (with_value.empty() ? "" : "|") + flag.name;
    }
    for (char& letter : alternatives)
        if (letter == ' ') letter = '|';
    return "# bash completion for agent-sandbox: agent-sandbox completion bash > "
           "~/.local/share/bash-completion/completions/"
           "agent-sandbox\n\n_agent_sandbox_verbs='" +
           verb_names() + "'\n" + std::string(kBashHelpers) +
           "\n_agent_sandbox_flags() {\n    _agent_sandbox_words '" + names +
           "'\n}\n"
           "\n_agent_sandbox_takes_value() {\n    case $1 in\n        " +
           with_value +
           ") return 0 ;;\n    esac\n    return 1\n}\n"
           "\n_agent_sandbox_value() {\n    case $1 in\n" +
           bash_value_cases(flags) +
           "    esac\n}\n"
           "\n_agent_sandbox_is_verb() {\n    case $1 in\n        " +
           alternatives +
           ") return 0 ;;\n    esac\n    return 1\n}\n"
           "\n# Fails for the verbs that take the flags of a run and a command.\n"
           "_agent_sandbox_verb() {\n"
           "    if [[ $previous == " +
           std::string(kSessionFlag) + " ]]; then\n        _agent_sandbox_words '" + std::string(kRunning) +
           "'\n        return 0\n    fi\n    case $1 in\n" + bash_verb_cases() +
           "        *) return 1 ;;\n    esac\n"
           "    [[ $current != -* ]] && _agent_sandbox_paths -f\n    return 0\n}\n" +
           std::string(kBashMain);
}

std::string zsh_completion() {
    return "#compdef agent-sandbox\n# agent-sandbox completion zsh > a directory of $fpath, as "
           "_agent-sandbox\n\n"
           "_agent_sandbox_first() {\n    local -a verbs=(\n" +
           zsh_verb_list() +
           "    )\n"
           "    _describe -t verbs verb verbs\n    _command_names -e\n}\n\n"
           "_agent_sandbox_rest() {\n    if [[ $words[CURRENT-1] == " +
           std::string(kSessionFlag) + " ]]; then compadd -- " + std::string(kRunning) +
           "; return; fi\n    case $words[1] in\n" + zsh_verb_cases() +
           "        run|plan) shift words; (( CURRENT-- )); _agent_sandbox ;;\n        *) _normal ;;\n    "
           "esac\n}\n\n"
           "_agent_sandbox() {\n    _arguments -S \\\n" +
           zsh_specifications(all_flags()) +
           "        '(-)1: :_agent_sandbox_first' \\\n        '*:: "
           ":_agent_sandbox_rest'\n}\n\n_agent_sandbox \"$@\"\n";
}

std::string fish_completion() {
    std::vector<Flag> flags = all_flags();
    std::string text =
        "# agent-sandbox completion fish > ~/.config/fish/completions/agent-sandbox.fish\n\n"
        "set -g __agent_sandbox_verbs " +
        verb_names() + "\nset -g __agent_sandbox_value_flags" + fish_value_flags(flags) + "\n" +
        std::string(kFishHelpers) + "\n";
    for (const Flag& flag : flags) text += fish_flag_line(flag);
    for (const Verb& verb : verbs()) {
        text += "complete -c agent-sandbox -n __agent_sandbox_is_open -f -a " + std::string(verb.name) +
                " -d " + fish_quoted(verb.help) + "\n";
        std::string is_verb =
            "complete -c agent-sandbox -n '__agent_sandbox_verb_is " + std::string(verb.name) + "' ";
        std::string words = verb_words(verb, kRunningInFish);
        if (!words.empty()) text += is_verb + "-f -a " + fish_quoted(words) + "\n";
        for (const VerbFlag& flag : flags_of(verb)) {
            text += is_verb + "-l " + std::string(flag.flag.substr(2));
            if (!flag.value_name.empty()) text += " -x";
            if (flag.flag == kSessionFlag) text += " -a " + fish_quoted(kRunningInFish);
            text += "\n";
        }
    }
    return text + "complete -c agent-sandbox -a '(__agent_sandbox_command)'\n";
}

}  // namespace config
