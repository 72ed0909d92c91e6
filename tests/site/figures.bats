# SPDX-License-Identifier: MIT
# Tables of figures, their plots, and the page of promises: made from samples, and each mistake is found.

bats_require_minimum_version 1.5.0

# A separate checkout, with one promise, one test and one table.
setup() {
    tree=$BATS_TEST_TMPDIR/tree
    mkdir -p "$tree"/{bench,scripts,docs/figures,tests/jail,tests/plan,tests/fuzz/wire/corpus/dns}
    cp bench/{figures.py,plot.py,record.bash} "$tree/bench/"
    cp scripts/promises "$tree/scripts/"
    printf '@test "%s" {\n}\n' 'a file is \"hidden\"' 'and _seen_' >"$tree/tests/jail/view.bats"
    printf 'TEST_P(View, HidesAFile) {}\n' >"$tree/tests/plan/view_test.cc"
    echo 'foreach(property dns ssh)' >"$tree/tests/fuzz/wire/CMakeLists.txt"
    cat >"$tree/docs/promises.in" <<'IN'
#: not on the page
# Promises

A file is hidden | ENOENT | tests/jail/view.bats: a file is "hidden"; tests/jail/view.bats: and _seen_; tests/plan/view_test.cc: View.HidesAFile
It is fast | {launch:agent-sandbox:median} | bench/plot.py; fuzz_wire_dns
IN
    cat >"$tree/docs/performance.in" <<'IN'
# Performance

{figures: launch}

The ratio is {launch:agent-sandbox:ratio<=0.5}; {launch:agent-sandbox:ratio>=0.5}.
IN
    sample launch bars $'way\tmedian\tratio\nbare `bwrap` & <co>\t14123.5\t1.00\nagent-sandbox\t8.04\t0.55\nnone\t-\t-'
}

sample() { # NAME KIND TABLE
    (
        . "$tree/bench/record.bash"
        TITLE="Launch of \`true\`" UNIT=ms PLOT=$2 SCALE=${4:-} RATIO='bare bubblewrap' record "$1" <<<"$3"
    )
}

promises() { "$tree/scripts/promises" "$@"; }

# broken WORDS: the check fails and prints this.
broken() {
    run ! promises --check
    [[ $output == *"$1"* ]] || { echo "should say: $1"; return 1; }
}

@test "a table has its title, unit, machine, day and benchmark, and comes whole or not at all" {
    grep -qx '# title: Launch of `true`' "$tree/docs/figures/launch.tsv"
    grep -qE '^# machine: .+, Linux [0-9.]+, [a-z0-9_]+, [0-9]+ cores$' "$tree/docs/figures/launch.tsv"
    grep -qE '^# measured: [0-9]{4}-[0-9]{2}-[0-9]{2}$' "$tree/docs/figures/launch.tsv"
    cp "$tree/docs/figures/launch.tsv" "$BATS_TEST_TMPDIR/before"
    run ! sample launch bars $'way\tmedian\nagent-sandbox\t8.04\t0.55'
    run ! sample launch bars $'way\tmedian\nagent-sandbox\t'
    run ! sample launch bars $'way\tmedian'
    run ! sample ../launch bars $'way\tmedian\nagent-sandbox\t1'
    cmp "$tree/docs/figures/launch.tsv" "$BATS_TEST_TMPDIR/before"
    [ "$(ls -A "$tree/docs/figures")" = launch.tsv ]
}

@test "bars: well-formed, with title, labels, values and ratios" {
    local text
    "$tree/bench/plot.py" "$tree/docs/figures/launch.tsv" >"$BATS_TEST_TMPDIR/bars.svg"
    xmllint --noout --nonet "$BATS_TEST_TMPDIR/bars.svg"
    for text in '<title id="title">Launch of true</title>' '>bare bwrap &amp; &lt;co&gt;<' '>14,124 (1.00)<' '>8.04 (0.55)<' \
        'prefers-color-scheme: dark' 'in brackets the ratio to bare'; do
        grep -qF "$text" "$BATS_TEST_TMPDIR/bars.svg" || { echo "misses $text"; return 1; }
    done
    [ "$(grep -c '<rect class="\(fill\|other\)' "$BATS_TEST_TMPDIR/bars.svg")" -eq 2 ]
}

@test "lines: well-formed, a line for each column, on plain and logarithmic scales" {
    local scale text
    for scale in '' log-x,log-y log-y; do
        sample lines lines $'rules\tours\ttheirs\n10\t8\t16\n100\t9.5\t-\n10000\t20\t90000' "$scale"
        "$tree/bench/plot.py" "$tree/docs/figures/lines.tsv" >"$BATS_TEST_TMPDIR/lines.svg"
        xmllint --noout --nonet "$BATS_TEST_TMPDIR/lines.svg"
        [ "$(grep -c '<path class="line[01]" d="M' "$BATS_TEST_TMPDIR/lines.svg")" -eq 2 ]
        for text in '>ours<' '>theirs<' '>rules<' '>90,000<' '>10k<'; do
            grep -qF "$text" "$BATS_TEST_TMPDIR/lines.svg" || { echo "$scale: misses $text"; return 1; }
        done
    done
    sample lines lines $'rules\tours\nmany\t8'
    run ! "$tree/bench/plot.py" "$tree/docs/figures/lines.tsv"
}

@test "pages are made of their sources, with figures and whether aims are met" {
    broken 'docs/promises.md is not what its sources make'
    promises
    promises --check
    grep -qF '| A file is hidden | ENOENT | `tests/jail/view.bats`: “a file is "hidden"”, “and \_seen\_”; `tests/plan/view_test.cc`' \
        "$tree/docs/promises.md"
    grep -qF '| It is fast | 8.04 ms | `bench/plot.py`; `fuzz_wire_dns` |' "$tree/docs/promises.md"
    grep -qF '| agent-sandbox | 8.04 | 0.55 |' "$tree/docs/performance.md"
    grep -qF '![Launch of true](figures/launch.svg)' "$tree/docs/performance.md"
    grep -qF 'The ratio is 0.55 (aim: at most 0.5, not met); 0.55 (aim: at least 0.5, met).' "$tree/docs/performance.md"
    xmllint --noout --nonet "$tree/docs/figures/launch.svg"
    run ! grep -r 'not on the page' "$tree/docs" --include='*.md'
}

@test "a stale page, a test that is not there and a figure that was not measured are found" {
    promises
    sed -i 's/8.04/8.05/' "$tree/docs/figures/launch.tsv"
    broken 'docs/performance.md is not what its sources make'
    broken 'docs/figures/launch.svg is not what its sources make'
    promises
    promises --check
    local wrong
    while IFS='~' read -r wrong said; do
        cp "$tree/docs/promises.in" "$BATS_TEST_TMPDIR/before"
        echo "It is wrong | $wrong" >>"$tree/docs/promises.in"
        broken "$said"
        cp "$BATS_TEST_TMPDIR/before" "$tree/docs/promises.in"
    done <<'MISTAKES'
never | tests/jail/view.bats: a file is shown~tests/jail/view.bats has no test "a file is shown"
never | tests/jail/other.bats: a file~there is no tests/jail/other.bats
never | tests/plan/view_test.cc: View.Shows~has no test View.Shows
never | fuzz_wire_ssh~there is no fuzz target fuzz_wire_ssh
never | bench/none~'bench/none' is no test
{launch:nobody:median} | bench/plot.py~has no 'median' of 'nobody'
{launch:none:median} | bench/plot.py~has no 'median' of 'none'
{other:agent-sandbox:median} | bench/plot.py~docs/figures/other.tsv was never recorded
only two~a row is PROMISE | FIGURE | SHOWN BY
MISTAKES
    promises --check
    sample unused bars $'way\tmedian\nours\t1'
    broken 'docs/figures/unused.tsv is on no page'
}

@test "figures of a trial leave the pages as they are" {
    promises
    cp -r "$tree/docs" "$BATS_TEST_TMPDIR/before"
    cp -r "$tree/docs/figures" "$BATS_TEST_TMPDIR/trial"
    sed -i 's/8.04/9.99/' "$BATS_TEST_TMPDIR/trial/launch.tsv"
    FIGURES=$BATS_TEST_TMPDIR/trial promises
    grep -qF '9.99 ms' "$BATS_TEST_TMPDIR/trial/promises.md"
    diff -r "$tree/docs" "$BATS_TEST_TMPDIR/before"
}
