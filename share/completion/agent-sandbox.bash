# SPDX-License-Identifier: MIT
# bash completion for agent-sandbox: agent-sandbox completion bash > ~/.local/share/bash-completion/completions/agent-sandbox
#
# The program decides what may stand at the cursor. After the first word that is neither a flag nor a verb, all words belong to
# the command, and bash uses the command's own completion.

# Line by line, because names may contain blanks and stars. A name with a line break comes as two names that do not exist.
_agent_sandbox_paths() {
    local name
    compopt -o filenames 2>/dev/null
    while IFS= read -r name; do
        [[ $name == '~'* || -e $name || -L $name ]] && COMPREPLY+=("$name")
    done < <(compgen "$1" -- "$current")
}

# Aliases, functions and words of the shell itself can't be started in a jail.
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

# The command's own completion, if there is one. The command begins at piece $1 of COMP_WORDS.
_agent_sandbox_command() {
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$1"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    else
        _agent_sandbox_paths -f
    fi
}

# bash splits words at = : @ and replaces only the last piece. This fills words with the words up to the cursor as they were
# typed, starts with the index of each in COMP_WORDS, and pieces with the part of the last word that bash keeps.
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
    # bash splits at @ too, but replaces it together with the text after it.
    pieces=${pieces%@}
}

_agent_sandbox() {
    local words=() starts=() pieces='' kind='' front='' current
    COMPREPLY=()
    _agent_sandbox_join
    {
        read -r kind front
        mapfile -t COMPREPLY
    } < <(command agent-sandbox __complete bash -- "${words[@]:1}" 2>/dev/null)
    current=${words[-1]#"$front"}
    case $kind in
        openings) compopt -o nospace 2>/dev/null ;;
        files) _agent_sandbox_paths -f ;;
        directories) _agent_sandbox_paths -d ;;
        programs) _agent_sandbox_programs ;;
        command)
            current=${words[-1]}
            _agent_sandbox_command "${starts[front + 1]}"
            return
            ;;
    esac
    COMPREPLY=("${COMPREPLY[@]/#/$front}")
    COMPREPLY=("${COMPREPLY[@]#"$pieces"}")
}

complete -F _agent_sandbox agent-sandbox
