# SPDX-License-Identifier: MIT
# Sourced by the benchmarks: stores a table of figures for docs/performance.md and docs/promises.md.
#
#     . bench/record.bash
#     TITLE='Launch of `true`' UNIT=ms PLOT=bars RATIO='bare bubblewrap' record launch <<<$'way\tmedian\tratio\nnative\t8.04\t0.55'
#
# The table is read from standard input, with columns separated by tabs: a header whose first cell names the rows, then the rows; "-" for a
# missing value. PLOT is bars (one group a row) or lines (the first column is x); without it there is only the table. SCALE is log-x, log-y
# or both with a comma. SHOWN names the columns to draw, with commas, if not all. RATIO names the reference of the column "ratio". NOTE is
# one line about the method (runs, conditions). FIGURES is the folder, by default docs/figures; set it elsewhere for a trial run.

record_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

record() { # NAME <TABLE
    local folder=${FIGURES:-$record_root/docs/figures} table machine field value
    [[ $1 =~ ^[a-z0-9-]+$ ]] || { echo "record: \"$1\" is no name of a table" >&2; return 1; }
    : "${TITLE:?record $1 needs a title}" "${UNIT:?record $1 needs a unit}"
    table=$(cat)
    # A failed benchmark must not replace good figures with an empty table.
    awk -F '\t' -v name="$1" '
        NR == 1 { columns = NF }
        NF != columns || NF < 2 { printf "record %s: line %d has %d columns, the header has %d\n", name, NR, NF, columns; bad = 1 }
        { for (place = 1; place <= NF; ++place) if ($place == "") { printf "record %s: line %d has an empty cell\n", name, NR; bad = 1 } }
        END { if (NR < 2) { printf "record %s: no rows\n", name; bad = 1 }; exit bad }' >&2 <<<"$table" || return
    # shellcheck disable=SC1091
    machine="$(. /etc/os-release && echo "$NAME ${VERSION_ID:-}"), Linux $(uname -r | cut -d. -f1,2), $(uname -m), $(nproc) cores"
    mkdir -p "$folder"
    {
        while IFS=$'\t' read -r field value; do
            [[ -z $value ]] || printf '# %s: %s\n' "$field" "$value"
        done <<<"title	$TITLE
unit	$UNIT
plot	${PLOT:-}
scale	${SCALE:-}
shown	${SHOWN:-}
ratio	${RATIO:-}
note	${NOTE:-}
machine	${machine/ GNU\/Linux/}
measured	$(date -u +%F)
by	${BY:-bench/${0##*/}}"
        printf '%s\n' "$table"
    } >"$folder/.$1.tsv.$$"
    # Readable even if root measured with a strict umask. By rename, so that no reader gets half a table.
    chmod 0644 "$folder/.$1.tsv.$$"
    mv -f -- "$folder/.$1.tsv.$$" "$folder/$1.tsv"
    echo "recorded ${folder#"$PWD/"}/$1.tsv" >&2
}
