// SPDX-License-Identifier: MIT
// Rows with aligned columns. A cell that is much wider than the others pushes its own row only, not the whole
// table. The last cell of a row may be broken into lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace base {

// Emphasis for terminals. The caller decides whether the output is a terminal, and passes untrusted text
// through printable() first, because this code does not check it.

enum class Style { plain, bold, dim, red, green, yellow };

std::string styled(std::string_view text, Style style, bool is_coloured);

// The number of columns of valid UTF-8, counted as code points: good enough for names and sentences.
size_t display_width(std::string_view text);

// Lines of at most `width` columns, broken at blanks; a longer word gets a line of its own.
std::vector<std::string> wrapped(std::string_view text, size_t width);

struct Cell {
    std::string text;
    Style style = Style::plain;
};

class Table {
  public:
    void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
    bool is_empty() const { return rows_.empty(); }

    // One line a row, each with `indent` blanks before it and none at the end. Given a width, the last cell
    // of a row is wrapped below itself, if enough columns are left.
    std::string text(size_t indent, bool is_coloured, size_t width = 0) const;

  private:
    std::vector<std::vector<Cell>> rows_;
};

}  // namespace base
