#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# bench/plot.py FILE.tsv >FILE.svg: draws a table of figures (bench/record.bash).
#
# bars: a group for each row, with its name above its bars, so that long names fit on a narrow screen. Each value is printed, with its ratio
# after it if the table has one. lines: the first column is x, and each other column is a line with its own marks. 460 units wide with
# letters of size 14: on a telephone they are still ten units high. Colours follow the reader's light or dark screen, and no line is
# distinguished by its colour alone.
import math
import re
import sys

sys.dont_write_bytecode = True
from figures import Table, formatted, is_number, is_ratio

WIDTH, MARGIN = 460, 14
# One colour, dash and mark for each series.
LIGHT = ["#" + colour for colour in "2b6cb0 c05621 2f855a 805ad5 b83280 5f6b7a 8a6d00 0f7d86".split()]
DARK = ["#" + colour for colour in "63a4e8 f0975a 63c28c b794f4 f687b3 a9b4c3 d9bd4a 5ec4cd".split()]
DASHES = ["none", "7 4", "2 3", "9 3 2 3", "4 4", "1 4", "12 3", "5 2 1 2"]
SHAPES = [
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", "m-4 -4h8v8h-8z", "m0 -5l5 9h-10z", "m0 -5l5 5l-5 5l-5 -5z",
    "m0 5l-5 -9h10z", "m-5 -2h10v4h-10z", "m-2 -5h4v10h-4z", "m-5 5l5 -4l5 4v-10l-5 4l-5 -4z",
]
LETTER = 8.2  # The width of a letter of size 14, with a margin for usual fonts.

# ---- Text and numbers ----------------------------------------------------------------------------------------------------


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;").replace("`", "")


def wrapped(text, room):
    lines = [""]
    for word in text.replace("`", "").split(" "):
        if lines[-1] and len(f"{lines[-1]} {word}") * LETTER > room:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def tick_text(value):
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    if abs(value) >= 1e4:
        return f"{value / 1e3:g}k"
    text = formatted(f"{value:.6g}")
    return text.rstrip("0").rstrip(".") if "." in text else text


class Scale:
    """From values to positions between start and end. A tight scale ends with its data, another at a round number."""

    def __init__(self, values, span, from_zero=False, is_tight=False):
        self.start, self.end = span
        self.least, self.most = min(values), max(values)
        if from_zero or self.least > 0:
            self.least = 0
        if self.most <= self.least:
            self.most = self.least + 1
        rough = (self.most - self.least) / 5
        step = 10 ** math.floor(math.log10(rough))
        step *= next(each for each in (1, 2, 5, 10) if step * each >= rough)
        self.top = self.most if is_tight else math.ceil(self.most / step - 1e-9) * step
        count = math.ceil((self.top - self.least) / step - 1e-9)
        self.ticks = [tick for tick in (self.least + number * step for number in range(count + 1)) if tick <= self.top + 1e-9]

    def place(self, value):
        return self.start + (self.end - self.start) * (value - self.least) / (self.top - self.least)


class LogarithmicScale:
    def __init__(self, values, span, from_zero=False, is_tight=False):
        self.start, self.end = span
        positive = [value for value in values if value > 0]
        if not positive:
            sys.exit("a logarithmic scale without a positive value")
        # Bars need a visible stump for the lowest value; lines need no space below it.
        self.low = math.floor(math.log10(min(positive)) - (0.3 if from_zero else 0))
        self.high = math.log10(max(positive)) if is_tight else math.ceil(math.log10(max(positive)) - 1e-9)
        if self.high <= self.low:
            self.high = self.low + 1
        each = math.ceil((self.high - self.low) / 6 - 1e-9)
        self.ticks = [10**power for power in range(self.low, math.floor(self.high + 1e-9) + 1) if (power - self.low) % each == 0]

    def place(self, value):
        power = math.log10(max(value, 10**self.low))
        return self.start + (self.end - self.start) * (power - self.low) / (self.high - self.low)


# ---- The drawing ---------------------------------------------------------------------------------------------------------


class Drawing:
    def __init__(self, table):
        self.table, self.body, self.y = table, [], 0
        self.kind = table.kind_of_plot() or sys.exit(f"{table.path} says no kind of plot")
        self.scales = table.list("scale")
        columns = table.columns
        named = table.list("shown") or (["median"] if "median" in columns[1:] else [])
        # Indices of the drawn columns: those that the table names, its medians, or all with its unit.
        self.drawn = [
            place
            for place, column in enumerate(columns)
            if place and (column in named if named else not is_ratio(column) and not re.match(r"(aim|runs)\b", column))
        ]
        if not self.drawn:
            sys.exit(f"{table.path} has no column to draw")
        # The ratio of a whole row is printed after its value, or after its name if there are several values.
        self.ratio = columns.index("ratio", 1) if self.kind == "bars" and "ratio" in columns[1:] else None

    def text(self, x, y, classes, text):
        self.body.append(f'<text class="{classes}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>')

    def scale_of(self, axes, values, span, **options):
        kind = LogarithmicScale if any(axis in self.scales for axis in axes) else Scale
        return kind(values, span, **options)

    def values(self):
        found = [float(row[place]) for row in self.table.rows for place in self.drawn if is_number(row[place])]
        return found or sys.exit(f"{self.table.path} has nothing to draw")

    def heading(self):
        for line in wrapped(self.table.fact("title"), (WIDTH - 2 * MARGIN) * 0.94):
            self.y += 20
            self.text(MARGIN, self.y, "head", line)
        reference = self.table.fact("ratio")
        against = f"ratio to {reference}" if reference else "ratio"
        unit = self.table.fact("unit") + (f"; in brackets the {against}" if self.ratio else "")
        if any(is_ratio(self.table.columns[place]) for place in self.drawn):
            unit = against
        if self.scales:
            unit += "; logarithmic"
        for line in wrapped(unit, WIDTH * 1.15):
            self.y += 17
            self.text(MARGIN, self.y, "small", line)
        self.y += 8

    # A mark for each series: its shape identifies it without the colour.
    def mark(self, number, x, y):
        self.body.append(f'<path class="fill{number % len(LIGHT)}" d="M{x:.1f} {y:.1f}{SHAPES[number % len(SHAPES)]}"/>')

    def legend(self, has_marks):
        x = MARGIN
        self.y += 14
        for number, place in enumerate(self.drawn):
            name = re.sub("^ratio of ", "", self.table.columns[place])
            room = 20 + LETTER * len(name) + 16
            if x > MARGIN and x + room > WIDTH - MARGIN:
                x = MARGIN
                self.y += 19
            if has_marks:
                self.mark(number, x + 6, self.y - 4)
            else:
                fill = number % len(LIGHT)
                self.body.append(f'<rect class="fill{fill}" x="{x:.1f}" y="{self.y - 10:.1f}" width="12" height="12" rx="2"/>')
            self.text(x + 18, self.y, "label", name)
            x += room
        self.y += 6

    def ratio_of(self, row):
        return f" ({formatted(row[self.ratio])})" if self.ratio and is_number(row[self.ratio]) else ""

    def bars(self):
        values = self.values()
        is_single = len(self.drawn) == 1
        if not is_single:
            self.legend(False)
        rows = [(row, self.ratio_of(row)) for row in self.table.rows]
        longest = max(len(formatted(row[place]) + (ratio if is_single else "")) for row, ratio in rows for place in self.drawn)
        scale = self.scale_of(["log-x", "log-y"], values, (MARGIN, WIDTH - MARGIN - 6 - longest * LETTER), from_zero=True)
        has_ours = is_single and any("agent-sandbox" in row[0] for row in self.table.rows)
        for row, ratio in rows:
            self.y += 6
            for line in wrapped(row[0] + ("" if is_single else ratio), WIDTH - 2 * MARGIN):
                self.y += 16
                self.text(MARGIN, self.y, "label", line)
            for number, place in enumerate(self.drawn):
                end = MARGIN
                if is_number(row[place]):
                    end = scale.place(float(row[place]))
                    fill = "other" if has_ours and "agent-sandbox" not in row[0] else f"fill{number % len(LIGHT)}"
                    length = max(end - MARGIN, 1)
                    self.body.append(f'<rect class="{fill}" x="{MARGIN}" y="{self.y + 5:.1f}" width="{length:.1f}" height="15" rx="2"/>')
                self.text(end + 6, self.y + 17, "value", formatted(row[place]) + (ratio if is_single else ""))
                self.y += 18
            self.y += 4

    def axes(self, across, up, left, bottom):
        for tick in up.ticks:
            y = up.place(tick)
            self.body.append(f'<path class="grid" d="M{left:.1f} {y:.1f}H{WIDTH - MARGIN:.1f}"/>')
            self.text(left - 6, y + 5, "end small", tick_text(tick))
        for tick in across.ticks:
            x = across.place(tick)
            self.body.append(f'<path class="grid" d="M{x:.1f} {bottom:.1f}v5"/>')
            self.text(x, bottom + 20, "middle small", tick_text(tick))

    def lines(self):
        for row in self.table.rows:
            if not is_number(row[0]):
                sys.exit(f"{self.table.path}: '{row[0]}' is no number, and x of a line")
        values = self.values()
        self.legend(True)
        self.y += 12
        top, bottom = self.y, self.y + 240
        up = self.scale_of(["log-y"], values, (bottom, top))
        left = MARGIN + max(len(tick_text(tick)) for tick in up.ticks) * LETTER + 6
        across = self.scale_of(["log-x"], [float(row[0]) for row in self.table.rows], (left, WIDTH - MARGIN - 12), is_tight=True)
        self.axes(across, up, left, bottom)
        ends = []
        for number, place in enumerate(self.drawn):
            rows = [row for row in self.table.rows if is_number(row[place])]
            points = [(across.place(float(row[0])), up.place(float(row[place]))) for row in rows]
            if not points:
                continue
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
            self.body.append(f'<path class="line{number % len(LIGHT)}" d="M{path}"/>')
            # With many points, marks on each would form a band.
            for x, y in points if len(points) <= 30 else points[-1:]:
                self.mark(number, x, y)
            ends.append((points[-1][0], points[-1][1] - 7, formatted(rows[-1][place])))
        self.label_ends(ends)
        self.y = bottom + 40
        self.text((left + WIDTH - MARGIN) / 2, self.y, "middle small", self.table.columns[0])

    # If lines end close to each other, print their values below each other.
    def label_ends(self, ends):
        placed = []
        for x, y, value in sorted(ends, key=lambda end: end[1]):
            for other_x, other_y in placed:
                if abs(x - other_x) < 50 and y < other_y + 14:
                    y = other_y + 14
            placed.append((x, y))
            self.text(min(x + 6, WIDTH - MARGIN), y, "end value halo", value)

    def draw(self):
        self.heading()
        {"bars": self.bars, "lines": self.lines}.get(self.kind, lambda: sys.exit(f"{self.table.path}: no plot '{self.kind}'"))()
        return self.svg(math.ceil(self.y + 12))

    def svg(self, height):
        def colours(chosen):
            return " ".join(f".fill{n} {{ fill: {colour}; }} .line{n} {{ stroke: {colour}; }}" for n, colour in enumerate(chosen))

        fact = self.table.fact
        measured = f" Measured by {escape(fact('by'))}" + (f" on {fact('measured')}." if fact("measured") else ".") if fact("by") else ""
        lines = " ".join(f".line{n} {{ fill: none; stroke-width: 2; stroke-dasharray: {dash}; }}" for n, dash in enumerate(DASHES))
        body = "\n".join(self.body)
        return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" aria-labelledby="title description">
<!-- SPDX-License-Identifier: MIT -->
<title id="title">{escape(fact("title"))}</title>
<desc id="description">{self.kind.capitalize()}, {escape(fact("unit"))}; the table beside it has the same values.{measured}</desc>
<style>
  .paper {{ fill: #ffffff; }} .grid {{ stroke: #d6dbe3; fill: none; }} .other {{ fill: #a3adbb; }} {colours(LIGHT)}
  {lines}
  text {{ fill: #1d2430; font: 14px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }} .head {{ font-size: 15px; font-weight: 700; }}
  .small {{ font-size: 12.5px; fill: #4a5465; }} .value {{ font-variant-numeric: tabular-nums; }}
  .halo {{ paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }} .end {{ text-anchor: end; }} .middle {{ text-anchor: middle; }}
  @media (prefers-color-scheme: dark) {{
    .paper {{ fill: #14181f; }} .grid {{ stroke: #323a47; }} .other {{ fill: #6b7686; }} {colours(DARK)}
    text {{ fill: #dde3ec; }} .halo {{ stroke: #14181f; }} .small {{ fill: #aab4c3; }}
  }}
</style>
<rect class="paper" width="{WIDTH}" height="{height}"/>
{body}
</svg>
"""


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: plot.py FILE.tsv")
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(Drawing(Table(sys.argv[1])).draw())
