# SPDX-License-Identifier: MIT
# egress_table.py FOLDER most|least MEASURE...: the best round of each FOLDER/MEASURE.CONTESTANT, as a table with tabs. The ratio is
# that of the first measure to the floor's.
import pathlib
import re
import sys

folder, best, *measures = sys.argv[1:]
HEADINGS = {
    "stream": "MB/s",
    "tunnels": "tunnels",
    "requests": "requests",
    "first": "median",
    "first99": "99 %",
    "memory-1": "one tunnel",
    "memory-1000": "1,000 tunnels",
}
SHOWN = {"agent-sandbox-connect": "agent-sandbox by CONNECT", "pasta": "pasta, no rules"}


# The best round: the machine disturbed it least.
def best_of(measure, contestant):
    file = pathlib.Path(folder, f"{measure}.{contestant}")
    lines = file.read_text().splitlines() if file.exists() else []
    values = [float(line) for line in lines if re.fullmatch("[0-9.]+", line) and float(line) > 0]
    return (max if best == "most" else min)(values, default=None)


print("way", *[HEADINGS[measure] for measure in measures], "ratio", sep="\t")
floor = best_of(measures[0], "floor")
for contestant in pathlib.Path(folder, "contestants").read_text().split():
    values = [best_of(measure, contestant) for measure in measures]
    if any(value is not None for value in values):
        ratio = f"{values[0] / floor:.2f}" if floor and values[0] is not None else "-"
        print(SHOWN.get(contestant, contestant), *["-" if value is None else f"{value:.0f}" for value in values], ratio, sep="\t")
