#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The pages of the manual, made by scripts/manual from this program: they render without a warning, fit 80 columns, and name every
# verb, option and topic of the program.

load ../jail/helper
setup_file() {
    export PAGES=$BATS_FILE_TMPDIR/pages
    export SOURCE_DATE_EPOCH=1700000000
    "$SBX_STAGE/scripts/manual" "$SBX_PROGRAM" "$PAGES"
}
setup() { start_test; }
teardown() { end_test; }

NAMES=(agent-sandbox.1 agent-sandbox.toml.5 agent-sandbox-audit.5)

as_text() { MANWIDTH=80 MAN_KEEP_FORMATTING='' LC_ALL=C.UTF-8 man -P cat -l "$PAGES/$1" 2>"$BATS_TEST_TMPDIR/complaints" | sed 's/.\x08//g'; }

@test "pages and completions are all there, and the same bytes twice" {
    local name
    for name in "${NAMES[@]}" completions/bash completions/zsh completions/fish; do works test -s "$PAGES/$name"; done
    works env -C / TERM=dumb COLUMNS=40 HOME=/nowhere "$SBX_STAGE/scripts/manual" "$SBX_PROGRAM" "$BATS_TEST_TMPDIR/again"
    works diff -r "$PAGES" "$BATS_TEST_TMPDIR/again"
}

@test "pages render without a warning" {
    local name
    for name in "${NAMES[@]}"; do
        # scdoc begins paragraphs that stay empty. That is harmless.
        prints "" bash -c "mandoc -T lint -W warning '$PAGES/$name' | grep -v 'skipping paragraph macro' || true"
        prints "" bash -c "groff -man -ww -Tutf8 -Kutf8 '$PAGES/$name' 2>&1 >/dev/null"
    done
}

@test "pages fit 80 columns" {
    local name wide
    for name in "${NAMES[@]}"; do
        as_text "$name" >"$BATS_TEST_TMPDIR/text"
        [[ ! -s $BATS_TEST_TMPDIR/complaints ]] || { cat "$BATS_TEST_TMPDIR/complaints" >&2; return 1; }
        (($(wc -l <"$BATS_TEST_TMPDIR/text") > 60))
        wide=$(awk 'length($0) > 80' "$BATS_TEST_TMPDIR/text")
        [[ -z $wide ]] || { printf '%s: too wide:\n%s\n' "$name" "$wide" >&2; return 1; }
        ! grep -q '@[a-z]*@$' "$BATS_TEST_TMPDIR/text" || report "$name: a mark was not replaced"
    done
}

@test "every verb, every option and every topic is in agent-sandbox(1)" {
    as_text agent-sandbox.1 >"$BATS_TEST_TMPDIR/text"
    local word
    # The bash completion lists all of them.
    for word in $(sed -n "s/^_agent_sandbox_verbs='\(.*\)'/\1/p" "$PAGES/completions/bash"); do
        grep -Eq "^ +$word( |$)" "$BATS_TEST_TMPDIR/text" || { echo "no verb $word" >&2; return 1; }
    done
    for word in $(sed -n "s/^        \*) _agent_sandbox_words '\(.*\)' ;;/\1/p" "$PAGES/completions/bash"); do
        grep -Eq "^ +(-., )?$word( |$)" "$BATS_TEST_TMPDIR/text" || { echo "no option $word" >&2; return 1; }
    done
    for word in network home agents slurm admin trouble backends settings; do
        grep -Eq "^ +$word$" "$BATS_TEST_TMPDIR/text" || { echo "no topic $word" >&2; return 1; }
    done
}

@test "every setting is in agent-sandbox.toml(5), with value, default, ceiling and example" {
    as_text agent-sandbox.toml.5 >"$BATS_TEST_TMPDIR/text"
    local key count
    count=0
    for key in $("$SBX_PROGRAM" help settings | sed -n 's/^\([a-z][a-z_.]*\).*/\1/p'); do
        grep -qxE " +${key//./\\.}" "$BATS_TEST_TMPDIR/text" || { echo "no setting $key" >&2; return 1; }
        grep -qE "^ +${key##*.} = " "$BATS_TEST_TMPDIR/text" || { echo "no example of $key" >&2; return 1; }
        ((++count))
    done
    ((count > 50))
    [[ $(grep -c "^ *Value: " "$BATS_TEST_TMPDIR/text") == "$count" ]]
    [[ $(grep -c "^ *In an administrator's file: " "$BATS_TEST_TMPDIR/text") == "$count" ]]
}

# Kind and members, one a line, from the table of docs/records.md and from the page.
kinds_of_docs() {
    sed -n '/^| kind | members |/,/^$/p' "$SBX_STAGE/docs/records.md" | sed '1,2d;/^$/d' | python3 -c 'import re, sys
for row in sys.stdin:
    kinds, members = re.fullmatch(r"\| (.*?) \| (.*) \|\n", row).groups()
    for kind in re.findall("`([^`]+)`", kinds):
        for member in re.findall("`([^-`][^`]*)`", members):
            print(kind, member)' | sort
}
kinds_of_page() {
    sed -n '/^# LINES/,/^\*verdict\* is/p' "$SBX_STAGE/docs/man/agent-sandbox-audit.5.scd" | sed '$d' | python3 -c 'import re, sys
kinds = []
for line in sys.stdin:
    if line.startswith("*"):
        kinds = re.findall(r"\*([a-z]+)\*", line)
    for member in re.findall(r"\*([^*]+)\*", line) if line.startswith("\t") else []:
        if not re.match("-|THE CHAIN", member):
            for kind in kinds:
                print(kind, member.replace("\\", ""))' | sort
}

@test "the record's kinds and members are those of docs/records.md" {
    kinds_of_docs >"$BATS_TEST_TMPDIR/docs"
    kinds_of_page >"$BATS_TEST_TMPDIR/page"
    (($(wc -l <"$BATS_TEST_TMPDIR/docs") > 60))
    works diff "$BATS_TEST_TMPDIR/docs" "$BATS_TEST_TMPDIR/page"
}
