#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The module file that is shipped, under the real Lmod, with two versions side by side.

load helper

setup() {
    start_test
    TREE=$HOME/tree
    MODULES=$HOME/modulefiles/agent-sandbox
    mkdir -p "$MODULES"
    local version
    for version in 0.1.0 0.2.0; do
        mkdir -p "$TREE/$version/bin" "$TREE/$version/share/man"
        printf '#!/bin/sh\necho %s\n' "$version" >"$TREE/$version/bin/agent-sandbox"
        chmod +x "$TREE/$version/bin/agent-sandbox"
        plant "$version"
    done
}
teardown() { end_test; }

# An administrator whose tree is elsewhere edits the file like this.
plant() {
    sed "s|\"/opt/agent-sandbox\"|\"$TREE\"|" "$SBX_STAGE/share/modulefiles/agent-sandbox.lua" >"$MODULES/$1.lua"
}

# with_modules SCRIPT: runs it in a shell that only the site's start-up files have set up.
with_modules() {
    env -i HOME="$HOME" PATH=/usr/bin:/bin MODULEPATH="${MODULES%/*}" "${ENVIRONMENT[@]}" \
        bash -c '. /usr/share/lmod/lmod/init/bash; '"$1"
}

@test "either version can be loaded, and unloaded again" {
    prints 0.1.0 with_modules 'module load agent-sandbox/0.1.0; agent-sandbox'
    prints 0.2.0 with_modules 'module load agent-sandbox; agent-sandbox'
    prints none with_modules 'module load agent-sandbox; module unload agent-sandbox; command -v agent-sandbox || echo none'
}

@test "loading the other version unloads the first one" {
    prints $'0.2.0\n1' with_modules 'module load agent-sandbox/0.1.0; module load agent-sandbox/0.2.0 2>/dev/null
        agent-sandbox; tr : "\n" <<<"$PATH" | grep -c tree'
    prints 0.1.0 with_modules 'module load agent-sandbox/0.2.0; module switch agent-sandbox agent-sandbox/0.1.0 2>/dev/null; agent-sandbox'
}

@test "a version that is not installed is reported, and nothing is loaded" {
    plant 0.3.0
    fails "agent-sandbox 0.3.0 is not installed" with_modules 'module load agent-sandbox/0.3.0'
    prints "" with_modules 'module load agent-sandbox/0.3.0 2>/dev/null; tr : "\n" <<<"$PATH" | grep tree || true'
}

@test "manuals and completions are found, beside those of other programs" {
    prints "$TREE/0.1.0/share:/usr/local/share:/usr/share" with_modules 'module load agent-sandbox/0.1.0; echo "$XDG_DATA_DIRS"'
    prints "/usr/local/share:/usr/share" with_modules 'module load agent-sandbox/0.1.0; module unload agent-sandbox; echo "$XDG_DATA_DIRS"'
    prints "" with_modules 'module load agent-sandbox/0.1.0; echo "$MANPATH"'
    ENVIRONMENT=(MANPATH=/site/man XDG_DATA_DIRS=/site/share)
    prints "$TREE/0.1.0/share:/site/share" with_modules 'module load agent-sandbox/0.1.0; echo "$XDG_DATA_DIRS"'
    works with_modules 'module load agent-sandbox/0.1.0; echo "$MANPATH"'
    [[ $output == "$TREE/0.1.0/share/man:/site/man"* ]]
}

@test "help and whatis describe the program" {
    works with_modules 'module help agent-sandbox/0.1.0 2>&1; module whatis agent-sandbox/0.1.0 2>&1'
    [[ $output == *"agent-sandbox doctor"*"Version: 0.1.0"* ]]
}
