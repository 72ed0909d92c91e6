# SPDX-License-Identifier: MIT
# The site that is built from this checkout; and each check can fail.

bats_require_minimum_version 1.5.0

setup_file() {
    export site=$BATS_FILE_TMPDIR/site
    scripts/site "$site" >"$BATS_FILE_TMPDIR/said"
}

check() { python3 tests/site/check.py "$@"; }

# broken CHECK PATH EXPRESSION [ARGUMENT...]: the check fails when this sed expression changes PATH in a copy.
broken() {
    rm -rf "$BATS_TEST_TMPDIR/copy"
    cp -r "$site" "$BATS_TEST_TMPDIR/copy"
    sed -i "$3" "$BATS_TEST_TMPDIR/copy/$2"
    if cmp -s "$site/$2" "$BATS_TEST_TMPDIR/copy/$2"; then echo "$2 has nothing to change"; return 1; fi
    ! check "$1" "$BATS_TEST_TMPDIR/copy" "${@:4}"
}

@test "two runs give the same bytes" {
    scripts/site "$BATS_TEST_TMPDIR/second"
    diff -r "$site" "$BATS_TEST_TMPDIR/second"
}

@test "every link and every anchor of every page leads somewhere" {
    check links "$site"
    broken links docs/network.html 's:href="#floors":href="#floor":'
    broken links docs/network.html 's|id="recipes"|id="recipe"|'
    broken links css/base.css '1s|^|a { background: url(missing.png); }|'
}

@test "every link and every anchor of the sources leads somewhere" {
    check sources ./*.md docs/*.md
    printf '# A page\n\n[there](missing.md) [here](#a-page)\n' >"$BATS_TEST_TMPDIR/one.md"
    printf '# A page\n\n[here](#another-page)\n' >"$BATS_TEST_TMPDIR/two.md"
    run ! check sources "$BATS_TEST_TMPDIR/one.md"
    [ "${#lines[@]}" -eq 1 ]
    run ! check sources "$BATS_TEST_TMPDIR/two.md"
}

@test "the site shows what a forge shows" {
    check same "$site" ./*.md docs/*.md
    broken same docs/network.html 's|gateway|gate|' docs/network.md
    broken same docs/network.html 's|<li>|<p>|' docs/network.md
}

@test "nothing is loaded from outside" {
    check outside "$site"
    broken outside index.html 's|href="css/base.css"|href="https://example.org/base.css"|'
    broken outside index.html 's|src="js/base.js"|src="//example.org/base.js"|'
    broken outside docs/site/style.css '1s|^|@import "other.css";|'
}

@test "no identifier occurs twice on a page" {
    check identifiers "$site"
    broken identifiers docs/network.html 's|id="recipes"|id="the-record"|'
}

@test "every page is in the navigation, and next leads through all of them" {
    check navigation "$site"
    broken navigation index.html 's|<a href="docs/resources.html" .*</a>||'
    broken navigation docs/resources.html 's|rel="next" |rel="other" |'
}

@test "pages are small" {
    check weight "$site"
    broken weight docs/resources.html "1s|^|$(printf '%090000d' 0)|"
}

@test "every page is well-formed HTML" {
    local page
    while read -r page; do
        tidy -quiet -errors --warn-proprietary-attributes no --drop-empty-elements no "$page" || { echo "$page"; return 1; }
    done < <(find "$site" -name '*.html')
    sed "s,</table>,," "$site/index.html" >"$BATS_TEST_TMPDIR/broken.html"
    run ! tidy -quiet -errors --warn-proprietary-attributes no --drop-empty-elements no "$BATS_TEST_TMPDIR/broken.html"
}

@test "diagrams and charts are well-formed, have a title and a description, and are shown on a page" {
    local drawing count=0
    for drawing in docs/diagrams/*.svg docs/figures/*.svg; do
        [ -e "$drawing" ] || continue
        xmllint --noout --nonet "$drawing"
        grep -q '<title' "$drawing"
        grep -q '<desc' "$drawing"
        [ -f "$site/$drawing" ] || { echo "no page shows $drawing"; return 1; }
        count=$((count + 1))
    done
    [ "$count" -ge 6 ]
}

@test "a page outside the navigation, and a missing page in it, stop the build" {
    cp -r README.md SECURITY.md CONTRIBUTING.md CHANGELOG.md mkdocs.yml docs scripts share tests "$BATS_TEST_TMPDIR/"
    cd "$BATS_TEST_TMPDIR"
    echo '# New' >docs/new.md
    run ! scripts/site out
    [[ $output == *"docs/new.md is not in docs/site/navigation.list"* ]]
    rm docs/new.md docs/resources.md
    run ! scripts/site out
    [[ $output == *"names docs/resources.md, which is not there"* ]]
    [ ! -e out ]
}

@test "the search finds every setting, options and verbs" {
    local setting word count=0
    while read -r setting; do
        grep -qwF -- "$setting" "$site/search/search_index.json" || { echo "$setting"; return 1; }
        count=$((count + 1))
    done < <(sed -n '/^## Settings/,/^## Presets/s/^| `\([a-z_]*\.[a-z_]*\)` | .*/\1/p' docs/configuration.md)
    [ "$count" -gt 50 ]
    for word in --home --network --ro why; do grep -qwF -- "$word" "$site/search/search_index.json"; done
    run ! grep -qwF -- "network.nothing" "$site/search/search_index.json"
}

@test "every message on the troubleshooting page is one of the program or of the list of other programs' messages" {
    python3 tests/site/messages.py docs/troubleshooting.md tests/site/foreign_messages.list src share
    sed 's/was not found in the jail/was nowhere in the jail/' docs/troubleshooting.md >"$BATS_TEST_TMPDIR/page.md"
    run ! python3 tests/site/messages.py "$BATS_TEST_TMPDIR/page.md" tests/site/foreign_messages.list src share
    [[ $output == *"is said by nobody: 'was nowhere in the jail'"* ]]
}
