// SPDX-License-Identifier: MIT
#include "base/table.h"

#include <algorithm>

namespace base {
namespace {

constexpr size_t kWidestColumn = 48;
constexpr std::string_view kGap = "  ";

constexpr size_t kNarrowest = 24;  // the least width of a wrapped cell

}  // namespace

std::vector<std::string> wrapped(std::string_view text, size_t width) {
    std::vector<std::string> lines(1);
    while (!text.empty()) {
        size_t end = std::min(text.find(' '), text.size());
        std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        bool is_first = lines.back().empty();
        if (!is_first && display_width(lines.back()) + 1 + display_width(word) > width) {
            lines.emplace_back(word);
        } else {
            lines.back() += (is_first ? "" : " ") + std::string(word);
        }
    }
    return lines;
}

std::string Table::text(size_t indent, bool is_coloured, size_t width) const {
    std::vector<size_t> widths;
    for (const std::vector<Cell>& row : rows_) {
        if (row.size() > widths.size()) widths.resize(row.size());
        for (size_t column = 0; column < row.size(); ++column) {
            size_t cell = display_width(row[column].text);
            if (cell <= kWidestColumn) widths[column] = std::max(widths[column], cell);
        }
    }

    std::string lines;
    for (const std::vector<Cell>& row : rows_) {
        std::string line(indent, ' ');
        size_t padding = 0;
        size_t used = indent;
        for (size_t column = 0; column < row.size(); ++column) {
            const Cell& cell = row[column];
            size_t own = display_width(cell.text);
            if (!cell.text.empty()) {
                line.append(padding, ' ');
                used += padding;
                bool is_broken = column + 1 == row.size() && width >= used + kNarrowest;
                std::vector<std::string> parts =
                    is_broken ? wrapped(cell.text, width - used) : std::vector<std::string>{cell.text};
                for (size_t part = 0; part < parts.size(); ++part) {
                    if (part > 0) line += "\n" + std::string(used, ' ');
                    line += styled(parts[part], cell.style, is_coloured);
                }
                used += own;
                padding = 0;
            }
            padding += (own < widths[column] ? widths[column] - own : 0) + kGap.size();
        }
        if (line.size() == indent) line.clear();
        lines += line + '\n';
    }
    return lines;
}

namespace {

std::string_view escape_of(Style style) {
    switch (style) {
        case Style::plain:
            return "";
        case Style::bold:
            return "\x1b[1m";
        case Style::dim:
            return "\x1b[2m";
        case Style::red:
            return "\x1b[31m";
        case Style::green:
            return "\x1b[32m";
        case Style::yellow:
            return "\x1b[33m";
    }
    return "";
}

}  // namespace

std::string styled(std::string_view text, Style style, bool is_coloured) {
    if (!is_coloured || style == Style::plain || text.empty()) return std::string(text);
    std::string painted(escape_of(style));
    painted += text;
    painted += "\x1b[0m";
    return painted;
}

size_t display_width(std::string_view text) {
    return static_cast<size_t>(
        std::ranges::count_if(text, [](unsigned char byte) { return (byte & 0xc0) != 0x80; }));
}

}  // namespace base
