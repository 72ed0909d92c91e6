# SPDX-License-Identifier: MIT
# agent-sandbox completion fish > ~/.config/fish/completions/agent-sandbox.fish
#
# The program decides what may stand at the cursor. After the first word that is neither a flag nor a verb, all words belong to
# the command, and fish uses the command's own completion.

# Stores the program's answer. Fails if files may stand at the cursor: fish lists them itself then.
function __agent_sandbox_ask
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    set -g __agent_sandbox_answer (command agent-sandbox __complete fish -- $words "$current" 2>/dev/null)
    not string match -q 'files *' -- "$__agent_sandbox_answer[1]"
end

# Functions and words of the shell itself can't be started in a jail.
function __agent_sandbox_programs
    complete -C (commandline -ct) | string match -v -r '^-' | while read -l line
        set -l name (string split -m 1 \t -- $line)[1]
        # A name with a line break comes as two names that do not exist.
        if string match -q '~*' -- $name; or test -e $name; and string match -q '*/*' -- $name; or command -q -- $name
            printf '%s\n' $line
        end
    end
end

function __agent_sandbox_offers
    set -l answer $__agent_sandbox_answer
    set -l head (string split -m 1 ' ' -- $answer[1])
    set -l front "$head[2]"
    set -e answer[1]
    switch "$head[1]"
        case command
            set -l words (commandline -opc)
            complete -C (string join -- ' ' (string escape -- $words[(math $front + 2)..]) (commandline -ct))
        case directories
            set answer (__fish_complete_directories (string replace -- "$front" '' (commandline -ct)))
            string replace -r -- '^' "$front" $answer
        case programs
            printf '%s\n' $answer
            __agent_sandbox_programs
        case '*'
            printf '%s\n' "$front"$answer
    end
end

complete -c agent-sandbox -n __agent_sandbox_ask -f -a '(__agent_sandbox_offers)'
