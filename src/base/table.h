// SPDX-License-Identifier: MIT
// Rows with aligned columns. A cell that is much wider than the others pushes its own row only, not the whole
// table.
#pragma once

#include <string>
#include <vector>

#include "base/style.h"

namespace base {

struct Cell {
    std::string text;
    Style style = Style::plain;
};

class Table {
  public:
    void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
    bool is_empty() const { return rows_.empty(); }

    // One line a row, each with `indent` blanks in front and none at the end.
    std::string text(size_t indent, bool is_coloured) const;

  private:
    std::vector<std::vector<Cell>> rows_;
};

}  // namespace base
