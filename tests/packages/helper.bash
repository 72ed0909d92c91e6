# SPDX-License-Identifier: MIT
# Shared by the tests of packages. They run in the checkout, as root.

bats_require_minimum_version 1.5.0

if [[ -z ${PACKAGES_NEXT:-} ]]; then
    echo "start these tests with scripts/test-packages: it makes the packages" >&2
    exit 1
fi

cd "$BATS_TEST_DIRNAME/../.." || exit
. scripts/clean-root.bash

PACKAGES=build/packages
SAME=build/again/same
NEXT=build/again/next
MACHINE=$(uname -m)
VERSION=$(sed -n 's/^project(agent-sandbox VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
declare -gA DEBIAN=([aarch64]=arm64 [x86_64]=amd64) FOREIGN_OF=([aarch64]=x86_64 [x86_64]=aarch64)
FOREIGN=${FOREIGN_OF[$MACHINE]}

deb() { echo "$1/agent-sandbox_$2-1_${DEBIAN[$3]}.deb"; }
rpm_file() { echo "$1/agent-sandbox-$2-1.$3.rpm"; }
tarball() { echo "$1/agent-sandbox-$2-linux-$3.tar.gz"; }

report() {
    printf '%s\nstatus: %s\noutput: %s\n' "$1" "${status:-}" "${output:-}" >&2
    return 1
}

works() {
    run "$@"
    ((status == 0)) || report "should work: $*"
}

prints() {
    local text=$1
    shift
    works "$@"
    [[ $output == "$text" ]] || report "should print '$text': $*"
}

# in_debian <<'SCRIPT': runs the script as root of a fresh copy of the clean Debian; tests/packages/inside.bash has the functions
# that it can call.
in_debian() {
    run in_clean_root packages env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
        DEBIAN_FRONTEND=noninteractive VERSION="$VERSION" NEXT_VERSION="$PACKAGES_NEXT" \
        DEB="/checkout/$(deb $PACKAGES "$VERSION" "$MACHINE")" NEXT_DEB="/checkout/$(deb $NEXT "$PACKAGES_NEXT" "$MACHINE")" \
        TARBALL="/checkout/$(tarball $PACKAGES "$VERSION" "$MACHINE")" NEXT_TARBALL="/checkout/$(tarball $NEXT "$PACKAGES_NEXT" "$MACHINE")" \
        bash -euc '. /checkout/tests/packages/inside.bash; eval "$1"' inside "$(cat)"
    ((status == 0)) || report "in a clean Debian"
}
