#compdef agent-sandbox
# SPDX-License-Identifier: MIT
# agent-sandbox completion zsh > a directory of $fpath, as _agent-sandbox
#
# The program decides what may stand at the cursor. After the first word that is neither a flag nor a verb, all words belong to
# the command, and zsh uses the command's own completion.

local kind front line
local -a answer plain with_value
answer=("${(@f)$(command agent-sandbox __complete zsh -- "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
kind=${answer[1]%% *} front=${answer[1]#* }
shift answer

if [[ $kind == command ]]; then
    shift $(( front + 1 )) words
    (( CURRENT -= front + 1 ))
    _normal
    return
fi

[[ -z $front ]] || compset -P '*='
case $kind in
    files) _files ;;
    directories) _files -/ ;;
    openings) _describe -t values value answer -S '' ;;
    flags)
        for line in $answer; do
            if [[ ${line%%:*} == *= ]]; then with_value+=("${line/=/}"); else plain+=("$line"); fi
        done
        _describe -o option plain -- with_value -S = -q
        ;;
    programs)
        (( $#answer )) && _describe -t verbs verb answer
        _command_names -e
        ;;
    *) if (( $#answer )); then _describe -t values value answer; else _message 'no more words'; fi ;;
esac
