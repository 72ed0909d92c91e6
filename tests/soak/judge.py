# SPDX-License-Identifier: MIT
# judge.py SAMPLES...: reads the lines of tests/soak/sample.bash and prints for each series whether it grew, as TAP: it compares the
# medians of the second and the last quarter. It ignores the first quarter: caches fill, and the first action of each kind loads
# what it needs.
# judge.py --table KIND,KIND SAMPLES...: prints the series of these kinds as a table over minutes instead.
import fileinput
import math
import statistics
import sys

# The permitted growth: no count may grow by one, memory may grow by the slack of an allocator.
ALLOWED = {
    "memory": lambda before: max(before * 0.05, 256),
    "descriptors": lambda before: 0,
    "count": lambda before: 0,
    "kept": lambda before: math.inf,  # One a session, kept for thirty days.
}


# The kind of each series, its values by minute, and the acts that failed.
def read_samples(files):
    kinds, values, failures = {}, {}, []
    for line in fileinput.input(files):
        minute, kind, name, value = line.rstrip("\n").split("\t", 3)
        if kind == "failure":
            failures.append(f"{name}, minute {minute}: {value}")
        else:
            kinds[name] = kind
            values.setdefault(name, {})[int(minute)] = value
    return kinds, values, failures


def print_table(names, values, last):
    print("minute", *names, sep="\t")
    for minute in range(1, last + 1):
        print(minute, *[values[name].get(minute, "-") for name in names], sep="\t")


def judge(name, kind, values, last):
    series = [float(values[minute]) for minute in sorted(values)]
    quarter = len(series) // 4 or 1
    before = statistics.median(series[:1] if len(series) < 4 else series[quarter : 2 * quarter])
    after = statistics.median(series[-quarter:])
    missing = last - len(series)
    text = f"{name}: {before:.15g}, then {after:.15g}" + (f", missing in {missing} samples" if missing else "")
    return not missing and after - before <= ALLOWED[kind](before), text


def main(arguments):
    shown = arguments[1].split(",") if arguments[:1] == ["--table"] else []
    kinds, values, failures = read_samples(arguments[2:] if shown else arguments)
    if not kinds:
        sys.exit("judge.py: no samples")
    last = max(minute for series in values.values() for minute in series)
    if shown:
        return print_table([name for name in kinds if kinds[name] in shown], values, last)
    results = [judge(name, kinds[name], values[name], last) for name in kinds]
    results.append((not failures, "every act went as it should" + (f": {len(failures)} did not" if failures else "")))
    print(f"1..{len(results)}")
    for number, (is_good, text) in enumerate(results, 1):
        print("ok" if is_good else "not ok", number, text)
    for failure in failures:
        print("#", failure)
    sys.exit(not all(is_good for is_good, _ in results))


main(sys.argv[1:])
