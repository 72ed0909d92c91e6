// SPDX-License-Identifier: MIT
// Completion for fish; see completion_bash.cc.
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "config/completion/completion_flags.h"
#include "config/reference/reference.h"
#include "config/verbs.h"

namespace config {
namespace {

std::string quoted(std::string_view text) {
    std::string result = "'";
    for (char letter : text) {
        if (letter == '\'' || letter == '\\') result += '\\';
        result += letter;
    }
    return result + "'";
}

// The options of fish's `complete` for this offer.
std::string options_of(const Offer& offer) {
    switch (offer.what) {
        case Completes::nothing:
            return "-x";
        case Completes::words:
        case Completes::openings:
            return "-x -a " + quoted(base::join(offer.words, " "));
        case Completes::paths:
            return "-r -F";
        case Completes::directories:
            return "-x -a '(__agent_sandbox_directories)'";
        case Completes::variables:
            return "-x -a '(set -nx)'";
        case Completes::sessions:
        case Completes::presets:
        case Completes::profiles:
            return "-x -a " + quoted("(" + std::string(question_for(offer.what)) + ")");
    }
    return {};
}

constexpr std::string_view kComplete = "complete -c agent-sandbox -n ";

std::string flag_line(const std::string& condition, const Flag& flag) {
    std::string line = std::string(kComplete) + condition + " -l " + flag.name.substr(2) + " " +
                       (flag.takes_value ? options_of(flag.value) : "-f");
    if (!flag.help.empty()) line += " -d " + quoted(flag.help);
    return line + "\n";
}

std::string value_flags() {
    std::string names;
    for (const Flag& flag : all_flags()) {
        if (flag.takes_value) names += " " + flag.name;
    }
    for (const Verb& verb : verbs()) {
        for (const Flag& flag : own_flags_of(verb.name)) {
            if (flag.takes_value && names.find(" " + flag.name) == std::string::npos)
                names += " " + flag.name;
        }
    }
    return names;
}

constexpr std::string_view kHelpers = R"~(
# Where the cursor is, and what stands before it, one a line: "open" with nothing but flags so far, "run" behind a
# verb that takes a command, "command" and its words, "verb", its name and its words without flags.
function __agent_sandbox_place
    set -l words (commandline -opc)
    set -e words[1]
    set -l place open
    while set -q words[1]
        switch $words[1]
            case --
                set -e words[1]
                printf '%s\n' command $words
                return
            case '--*=*'
            case '-*'
                contains -- $words[1] $__agent_sandbox_value_flags
                and set -e words[1]
            case '*'
                if test $place = open; and contains -- $words[1] $__agent_sandbox_running_verbs
                    set place run
                else if test $place = open; and contains -- $words[1] $__agent_sandbox_verbs
                    printf '%s\n' verb (__agent_sandbox_plain $words)
                    return
                else
                    printf '%s\n' command $words
                    return
                end
        end
        set -e words[1]
    end
    echo $place
end

function __agent_sandbox_plain
    while set -q argv[1]
        switch $argv[1]
            case '--*=*'
            case '-*'
                contains -- $argv[1] $__agent_sandbox_value_flags
                and set -e argv[1]
            case '*'
                printf '%s\n' $argv[1]
        end
        set -e argv[1]
    end
end

function __agent_sandbox_is
    contains -- (__agent_sandbox_place)[1] $argv
end

function __agent_sandbox_verb_is
    set -l place (__agent_sandbox_place)
    test "$place[1]" = verb; and test "$place[2]" = $argv[1]
end

# Behind this verb, with this first word: none for '', any for '*'.
function __agent_sandbox_behind
    set -l place (__agent_sandbox_place)
    test "$place[1]" = verb; and test "$place[2]" = $argv[1]
    and string match -q -- (test "$argv[2]" = '*'; and echo '?*'; or echo "$argv[2]") "$place[3]"
end

# Behind "--flag=" the word at the cursor begins with the flag.
function __agent_sandbox_directories
    __fish_complete_directories (string replace -r -- '^--[^=]+=' '' (commandline -ct))
end

# What the shell alone knows (functions, its own words) can't be started in a jail.
function __agent_sandbox_programs
    complete -C (commandline -ct) | string match -v -r '^-' | while read -l line
        set -l name (string split -m 1 \t -- $line)[1]
        # A name with a line break comes as two that are not there.
        if string match -q '~*' -- $name; or test -e $name; and string match -q '*/*' -- $name; or command -q -- $name
            printf '%s\n' $line
        end
    end
end

# The command's own completion, for everything behind it.
function __agent_sandbox_command
    set -l words (__agent_sandbox_place)
    set -e words[1]
    if set -q words[1]
        complete -C (string join -- ' ' (string escape -- $words) (commandline -ct))
    else
        __agent_sandbox_programs
    end
end
)~";

}  // namespace

std::string fish_completion() {
    std::string text =
        "# agent-sandbox completion fish > ~/.config/fish/completions/agent-sandbox.fish\n\n"
        "set -g __agent_sandbox_verbs " +
        verb_names(" ") + "\nset -g __agent_sandbox_running_verbs " + running_verb_names(" ") +
        "\nset -g __agent_sandbox_value_flags" + value_flags() + "\n" + std::string(kHelpers) +
        "\ncomplete -c agent-sandbox -f\n";
    for (const Flag& flag : all_flags()) text += flag_line("'__agent_sandbox_is open run'", flag);
    for (const Verb& verb : verbs()) {
        text += std::string(kComplete) + "'__agent_sandbox_is open' -f -a " + std::string(verb.name) +
                " -d " + quoted(verb.help) + "\n";
        if (verb.takes_run_flags) continue;
        for (const Flag& flag : own_flags_of(verb.name))
            text += flag_line("'__agent_sandbox_verb_is " + std::string(verb.name) + "'", flag);
    }
    for (const Position& position : verb_positions()) {
        std::string condition = "__agent_sandbox_behind " + std::string(position.verb) + " \"" +
                                std::string(position.first) + "\"";
        text += std::string(kComplete) + quoted(condition) + " " + options_of(position.offer) + "\n";
    }
    return text +
           "complete -c agent-sandbox -n '__agent_sandbox_is open run' -f -a "
           "'(__agent_sandbox_programs)'\n"
           "complete -c agent-sandbox -n '__agent_sandbox_is command' -f -a "
           "'(__agent_sandbox_command)'\n";
}

}  // namespace config
