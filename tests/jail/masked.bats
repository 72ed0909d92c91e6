#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Files in the project that read as empty.

load helper

setup() {
    start_test
    mkdir -p services/api
    for file in .env .env.production services/api/.env .env.example .env.sample .env.template; do
        echo "KEY=planted" >"$file"
    done
}
teardown() { end_test; }

# bats test_tags=smoke
@test ".env files read as empty, at every depth" {
    for file in .env .env.production services/api/.env; do
        prints "KEY=planted" cat "$file"
        prints "" in_jail cat "$file"
    done
}

@test "examples, samples and templates stay readable" {
    for file in .env.example .env.sample .env.template; do
        expect_readable "$file"
    done
}

@test "a masked file can't be written, removed or moved aside" {
    for file in .env services/api/.env; do
        run in_jail_sh 'echo inside >"$1"; rm -f "$1"; mv "$1" aside; cat aside' "$file"
        [[ $output != *planted* ]] || leak "the content came out"
        prints "KEY=planted" cat "$file"
    done
}

@test "the directory of a masked file can't be moved aside to read it" {
    run in_jail_sh 'mv services moved; cat moved/api/.env services/api/.env; mv services/api other; cat other/.env'
    [[ $output != *planted* ]] || leak "the content came out"
}

@test "hard and symbolic links do not show a masked file" {
    run in_jail_sh 'ln .env alias; cat alias; ln -s .env soft; cat soft'
    [[ $output != *planted* ]] || leak "the content came out"
}

@test "project.mask adds files, project.unmask removes one" {
    mkdir -p "$HOME/.config/agent-sandbox"
    printf '[project]\nmask = ["*.pem"]\nunmask = [".env.production"]\n' >"$HOME/.config/agent-sandbox/config.toml"
    echo planted >key.pem
    prints "" in_jail cat key.pem
    prints "" in_jail cat .env
    prints "KEY=planted" in_jail cat .env.production
}

@test "masks leave nothing behind" {
    find . | sort >"$BATS_TEST_TMPDIR/before"
    works in_jail true
    find . | sort >"$BATS_TEST_TMPDIR/after"
    works diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
}

# Editors and useradd replace files like this. strace delays the call that covers the file, so that the rename comes after the call
# that finds it.
@test "a masked file that is replaced during a launch does not stop it" {
    local launch=("$SBX_PROGRAM" --quiet --backend native -- true) trace=$BATS_TEST_TMPDIR/trace number writer
    works "${launch[@]}" # the first launch in a home creates more files
    works strace -f -qq -o "$trace" -e trace=openat2,move_mount "${launch[@]}"
    number=$(awk '/ move_mount\(/ { n[$1]++ } / openat2\(.*\/\.env"/ { print n[$1] + 1; exit }' "$trace")
    touch going
    while [[ -e going ]]; do
        : >new
        mv new .env
        sleep 0.01
    done 3>&- &
    writer=$!
    # A busy machine may not run the writer within the delay: such a launch does not count.
    is_replaced_meanwhile() {
        works strace -f -qq -o "$trace" -e trace=openat2,move_mount -e inject=move_mount:delay_enter=200000:when="$number" "${launch[@]}" || touch failed
        [[ -e failed ]] || grep -q 'move_mount(.*ENOENT.*DELAYED' "$trace"
    }
    wait_until is_replaced_meanwhile || report "it was not replaced in time"
    rm going
    wait "$writer"
    [[ ! -e failed ]] || report "the launch was stopped"
}
