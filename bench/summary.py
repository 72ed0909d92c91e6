# SPDX-License-Identifier: MIT
# summary.py REFERENCE ROUND.json...: combines the rounds of hyperfine into one table with tabs, in milliseconds. The ratio is that of
# the medians to REFERENCE's.
import json
import sys

reference, *files = sys.argv[1:]
times = {}
for name in files:
    with open(name) as file:
        for result in json.load(file)["results"]:
            times.setdefault(result["command"], []).extend(result["times"])
if reference not in times:
    sys.exit(f"nothing was measured as {reference}")


def quantile(share, command):
    ordered = sorted(times[command])
    return 1000 * ordered[int(share * (len(ordered) - 1) + 0.5)]


print("way", "median", "minimum", "90 %", "ratio", sep="\t")
for command in times:
    numbers = [*[quantile(share, command) for share in (0.5, 0, 0.9)], quantile(0.5, command) / quantile(0.5, reference)]
    print(command, *[f"{number:.2f}" for number in numbers], sep="\t")
