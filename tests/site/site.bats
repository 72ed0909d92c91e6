# SPDX-License-Identifier: MIT
# The site that is built from this checkout; and each check can fail.

bats_require_minimum_version 1.5.0

setup_file() {
    export site=$BATS_FILE_TMPDIR/site
    scripts/site "$site" >"$BATS_FILE_TMPDIR/said"
}

check() { perl tests/site/check.pl "$@"; }

# broken CHECK PATH EXPRESSION: the check fails when this sed expression changes PATH in a copy.
broken() {
    rm -rf "$BATS_TEST_TMPDIR/copy"
    cp -r "$site" "$BATS_TEST_TMPDIR/copy"
    sed -i "$3" "$BATS_TEST_TMPDIR/copy/$2"
    if cmp -s "$site/$2" "$BATS_TEST_TMPDIR/copy/$2"; then echo "$2 has nothing to change"; return 1; fi
    ! check "$1" "$BATS_TEST_TMPDIR/copy"
}

@test "two runs give the same bytes" {
    scripts/site "$BATS_TEST_TMPDIR/second"
    diff -r "$site" "$BATS_TEST_TMPDIR/second"
}

@test "every link and every anchor of every page leads somewhere" {
    check links "$site"
    broken links docs/network.html 's:href="#floors":href="#floor":'
    broken links docs/network.html 's|id="recipes"|id="recipe"|'
}

@test "every link and every anchor of the sources leads somewhere" {
    check sources ./*.md docs/*.md
    printf '# A page\n\n[there](missing.md) [here](#a-page)\n' >"$BATS_TEST_TMPDIR/one.md"
    printf '# A page\n\n[here](#another-page)\n' >"$BATS_TEST_TMPDIR/two.md"
    run ! check sources "$BATS_TEST_TMPDIR/one.md"
    [ "${#lines[@]}" -eq 1 ]
    run ! check sources "$BATS_TEST_TMPDIR/two.md"
}

@test "nothing is loaded from outside, and no script is needed" {
    check outside "$site"
    broken outside index.html 's|href="style.css"|href="https://example.org/style.css"|'
    broken outside style.css '1s|^|@import "other.css";|'
}

@test "no identifier stands twice on a page" {
    check identifiers "$site"
    broken identifiers docs/network.html 's|id="recipes"|id="the-record"|'
}

@test "every page is in the navigation, and next leads through all of them" {
    check navigation "$site"
    broken navigation index.html 's|<li><a href="docs/resources.html">.*</li>||'
    broken navigation docs/resources.html 's|rel="next" |rel="other" |'
}

@test "pages are small" {
    check weight "$site"
    broken weight docs/resources.html "1s|^|$(printf '%090000d' 0)|"
}

@test "every page is well-formed HTML" {
    local page
    while read -r page; do
        tidy -quiet -errors --warn-proprietary-attributes no "$page" || { echo "$page"; return 1; }
    done < <(find "$site" -name '*.html')
    sed 's|</main>||' "$site/index.html" >"$BATS_TEST_TMPDIR/broken.html"
    run ! tidy -quiet -errors --warn-proprietary-attributes no "$BATS_TEST_TMPDIR/broken.html"
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

@test "a page that the navigation does not name, and one that is not there, stop it" {
    cp -r README.md SECURITY.md CONTRIBUTING.md CHANGELOG.md docs scripts share tests "$BATS_TEST_TMPDIR/"
    cd "$BATS_TEST_TMPDIR"
    echo '# New' >docs/new.md
    run ! scripts/site out
    [[ $output == *"docs/new.md is not in docs/site/navigation.list"* ]]
    rm docs/new.md docs/resources.md
    run ! scripts/site out
    [[ $output == *"names docs/resources.md, which is not there"* ]]
    [ ! -e out ]
}

@test "the index leads to every setting and every option" {
    local setting flag count=0
    while read -r setting; do
        grep -qF "#setting-$setting\"" "$site/find.html" || { echo "$setting"; return 1; }
        count=$((count + 1))
    done < <(sed -n '/^## Settings/,/^## Presets/s/^| `\([a-z_]*\.[a-z_]*\)` | .*/\1/p' docs/configuration.md)
    [ "$count" -gt 50 ]
    [ "$(grep -oF '#setting-' "$site/find.html" | wc -l)" -lt $((2 * count)) ]
    for flag in --home --network --ro; do grep -qF "<code>$flag</code>" "$site/find.html"; done
    grep -qF '<code>why</code>' "$site/find.html"
}

@test "every message of the page for troubles is said by the program, or by those whom the list names" {
    perl tests/site/messages.pl docs/troubleshooting.md tests/site/foreign_messages.list src share
    sed 's/was not found in the jail/was nowhere in the jail/' docs/troubleshooting.md >"$BATS_TEST_TMPDIR/page.md"
    run ! perl tests/site/messages.pl "$BATS_TEST_TMPDIR/page.md" tests/site/foreign_messages.list src share
    [[ $output == *"is said by nobody: 'was nowhere in the jail'"* ]]
}
