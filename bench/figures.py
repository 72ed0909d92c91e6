# SPDX-License-Identifier: MIT
# Tables of figures in the format of bench/record.bash, for bench/plot.py and scripts/promises.
import re
import sys


class Table:
    """A table of figures. `facts` has its title, unit, plot, scale, shown, ratio, note, machine, measured and by."""

    def __init__(self, path):
        self.path, self.facts, self.columns, self.rows = path, {}, None, []
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file.read().splitlines(), 1):
                self.read(number, line)
        for fact in "title", "unit":
            if fact not in self.facts:
                sys.exit(f"{path} has no {fact}")
        if self.columns is None:
            sys.exit(f"{path} has no columns")
        if not self.rows:
            sys.exit(f"{path} has no rows")
        # If the table names columns to draw, only those have its unit; the others count something else.
        self.with_unit = self.list("shown") or [column for column in self.columns if not is_ratio(column)]

    def read(self, number, line):
        fact = re.fullmatch("# ([a-z]+): (.*)", line)
        cells = line.split("\t")
        if fact:
            self.facts[fact[1]] = fact[2]
        elif line and self.columns is None:
            self.columns = cells
        elif line and len(cells) != len(self.columns):
            sys.exit(f"{self.path}, line {number}: {len(cells)} columns, not {len(self.columns)}")
        elif line:
            self.rows.append(cells)

    def fact(self, name):
        return self.facts.get(name)

    def list(self, name):
        return re.split(r",\s*", self.facts[name]) if self.facts.get(name) else []

    def value_of(self, row, column):
        """The cell of a row and a column by their names, or None."""
        if column not in self.columns[1:]:
            return None
        place = self.columns.index(column, 1)
        return next((cells[place] for cells in self.rows if cells[0] == row), None)

    def kind_of_plot(self):
        """bars, lines or None. If each column has its own ratio ("ratio of getppid"), the ratios are drawn: only they can be compared."""
        ratios = [column for column in self.columns if column.startswith("ratio of ")]
        if "plot" in self.facts or not ratios:
            return self.facts.get("plot")
        self.facts["shown"] = ", ".join(ratios)
        return "bars"


def is_number(cell):
    return re.fullmatch(r"-?\d+(\.\d+)?", cell) is not None


def is_ratio(column):
    """Whether a column has no unit: it is printed, not drawn."""
    return re.search(r"\bratio\b", column) is not None


def formatted(cell):
    """Three significant digits; whole numbers stay whole, with a separator for thousands."""
    if not is_number(cell):
        return "–" if cell == "-" else cell
    if "." not in cell:
        return f"{int(cell):,}"
    size = abs(float(cell))
    return f"{float(cell):,.{0 if size >= 100 else 1 if size >= 10 else 2}f}"
