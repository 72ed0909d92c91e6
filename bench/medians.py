# SPDX-License-Identifier: MIT
# medians.py FILE REFERENCE WHAT...: FILE has lines of "WHO<TAB>WHAT<TAB>NUMBER". Prints a table with one row for each WHO and, for
# each WHAT, its median and the ratio to that of REFERENCE; "-" if it is missing.
import statistics
import sys

name, reference, *columns = sys.argv[1:]
values = {}
with open(name) as file:
    for line in file:
        who, what, number = line.rstrip("\n").split("\t")
        values.setdefault(who, {}).setdefault(what, []).append(float(number))


def median(who, what):
    numbers = values.get(who, {}).get(what)
    return statistics.median_low(numbers) if numbers else None


def cells(who, what):
    value, base = median(who, what), median(reference, what)
    if value is None:
        return ["-", "-"]
    return [f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}", f"{value / base:.2f}" if base else "-"]


print("where", *[cell for what in columns for cell in (what, f"ratio of {what}" if len(columns) > 1 else "ratio")], sep="\t")
for who in values:
    print("outside" if who == "nothing" else who, *[cell for what in columns for cell in cells(who, what)], sep="\t")
