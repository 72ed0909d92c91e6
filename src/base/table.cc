// SPDX-License-Identifier: MIT
#include "base/table.h"

#include <algorithm>

namespace base {
namespace {

constexpr size_t kWidestColumn = 48;
constexpr std::string_view kGap = "  ";

}  // namespace

std::string Table::text(size_t indent, bool is_coloured) const {
    std::vector<size_t> widths;
    for (const std::vector<Cell>& row : rows_) {
        if (row.size() > widths.size()) widths.resize(row.size());
        for (size_t column = 0; column < row.size(); ++column) {
            size_t width = display_width(row[column].text);
            if (width <= kWidestColumn) widths[column] = std::max(widths[column], width);
        }
    }

    std::string lines;
    for (const std::vector<Cell>& row : rows_) {
        std::string line(indent, ' ');
        size_t padding = 0;
        for (size_t column = 0; column < row.size(); ++column) {
            const Cell& cell = row[column];
            size_t width = display_width(cell.text);
            if (!cell.text.empty()) {
                line.append(padding, ' ');
                line += styled(cell.text, cell.style, is_coloured);
                padding = 0;
            }
            padding += (width < widths[column] ? widths[column] - width : 0) + kGap.size();
        }
        if (line.size() == indent) line.clear();
        lines += line + '\n';
    }
    return lines;
}

}  // namespace base
