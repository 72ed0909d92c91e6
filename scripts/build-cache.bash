# SPDX-License-Identifier: MIT
# Results that depend only on their inputs, kept outside of the checkout, so that a fresh clone at any path computes only what changed.
# Sourced, not run.
#
# Each kind of result has a folder below ${XDG_CACHE_HOME:-~/.cache}/agent-sandbox-build. An entry is a file or a folder, named by the
# SHA-256 of everything that it depends on. An entry is made under another name and then renamed: a partial entry is never used. Each use
# touches the entry, and entries without a use for 30 days are removed.

# cache_folder KIND: makes the folder, removes its old entries, and prints its path. Where the home directory is read-only, the folder is
# below build/.
cache_folder() {
    local folder=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/agent-sandbox-build/$1
    if ! mkdir -p "$folder" 2>/dev/null || [[ ! -w $folder ]]; then
        folder=$PWD/build/cache/$1
        mkdir -p "$folder" || return
    fi
    find "$folder" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} +
    printf '%s\n' "$folder"
}

# cache_use ENTRY: whether the entry exists. Delays its removal.
cache_use() { [[ -e $1 ]] && touch -c "$1"; }

# Prints the SHA-256 of standard input.
cache_key() { sha256sum | cut -d' ' -f1; }

# Prints the names and hashes of all files below these files and folders.
cache_hashes() { find "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum --; }

# Prints the versions of these Debian packages (patterns are allowed). Elsewhere they are unknown: prints the time, so that no key matches.
cache_versions() {
    dpkg-query --show --showformat '${db:Status-Abbrev} ${Package} ${Architecture} ${Version}\n' "$@" 2>/dev/null | LC_ALL=C sort || date +%s%N
}
