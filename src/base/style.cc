// SPDX-License-Identifier: MIT
#include "base/style.h"

#include <algorithm>

namespace base {
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
