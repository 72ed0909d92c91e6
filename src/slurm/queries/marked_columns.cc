// SPDX-License-Identifier: MIT
#include "slurm/queries/marked_columns.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "slurm/queries/request.h"

namespace slurm::queries {
namespace {

// -O truncates at a width, so request a wide column. A comment has at most 1024 bytes.
constexpr std::string_view kWholeWidth = "1100";
// -O's default width of a column.
constexpr size_t kDefaultWidth = 20;

// Removes "[.][digits]" from the front.
Column take_width(std::string_view& rest) {
    Column column;
    if (rest.starts_with('.')) {
        column.is_right = true;
        rest.remove_prefix(1);
    }
    size_t length = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (auto width = number_below(rest.substr(0, length), 100'000); width && *width) column.width = *width;
    rest.remove_prefix(length);
    return column;
}

std::string laid_out(std::string value, const Column& column) {
    if (column.width) {
        value.resize(std::min(value.size(), *column.width));
        value.insert(column.is_right ? 0 : value.size(), *column.width - value.size(), ' ');
    }
    return value + column.suffix;
}

std::optional<std::string_view> take_to_mark(std::string_view& rest, std::string_view mark) {
    size_t at = rest.find(mark);
    if (at == rest.npos) return {};
    std::string_view taken = rest.substr(0, at);
    rest.remove_prefix(at + mark.size());
    return taken;
}

std::string_view without_padding(std::string_view value) {
    return value.substr(0, value.find_last_not_of(' ') + 1);
}

std::string unmarked_pairs(std::string_view rest, const MarkedFormat& format, const ShowValue& show) {
    std::string output;
    for (size_t count = 0;; ++count) {
        std::optional<std::string_view> before = take_to_mark(rest, format.mark);
        if (!before) break;
        output += *before;
        std::optional<std::string_view> value = take_to_mark(rest, format.mark);
        if (!value) return output;
        output += laid_out(show(*value), format.columns[count % format.columns.size()]);
    }
    return output.append(rest);
}

std::string unmarked_fields(std::string_view rest, const MarkedFormat& format, const ShowValue& show) {
    std::string output;
    while (true) {
        for (const Column& column : format.columns) {
            std::optional<std::string_view> value = take_to_mark(rest, format.mark);
            if (!value) return output.append(rest);
            if (column.is_marked && value->starts_with('\n')) value->remove_prefix(1), output += '\n';
            output +=
                column.is_marked ? laid_out(show(without_padding(*value)), column) : std::string(*value);
        }
    }
}

}  // namespace

std::optional<MarkedFormat> mark_letters(std::string_view format, std::string_view letters,
                                         std::string_view mark) {
    MarkedFormat marked{.mark = std::string(mark)};
    while (!format.empty()) {
        size_t at = std::min(format.find('%'), format.size());
        marked.format += format.substr(0, at);
        format.remove_prefix(at);
        if (format.empty()) break;
        std::string_view rest = format.substr(1);
        Column column = take_width(rest);
        if (!rest.empty() && letters.find(rest.front()) != letters.npos) {
            marked.format.append(mark).append("%").append(1, rest.front()).append(mark);
            marked.columns.push_back(column);
            rest.remove_prefix(1);
        } else {
            marked.format += format.substr(0, format.size() - rest.size());
        }
        format = rest;
    }
    return marked.columns.empty() ? std::nullopt : std::optional(marked);
}

std::optional<MarkedFormat> mark_names(std::string_view format, std::span<const std::string_view> names,
                                       std::string_view mark) {
    MarkedFormat marked{.mark = std::string(mark), .is_long = true};
    bool has_marked = false;
    for (std::string_view field : base::split(format, ',')) {
        size_t colon = field.find(':');
        std::string_view name = field.substr(0, colon);
        std::string_view rest = colon == field.npos ? std::string_view() : field.substr(colon + 1);
        Column column = take_width(rest);
        if (colon == field.npos) column.width = kDefaultWidth;
        column.suffix = rest;
        column.is_marked = std::ranges::any_of(
            names, [&](std::string_view wanted) { return base::equals_ignoring_case(name, wanted); });
        has_marked |= column.is_marked;
        if (!marked.format.empty()) marked.format += ',';
        if (column.is_marked) {
            marked.format.append(name).append(":").append(kWholeWidth);
        } else {
            marked.format.append(field);
            if (colon == field.npos) marked.format += ":" + std::to_string(kDefaultWidth);
        }
        marked.format += mark;
        marked.columns.push_back(column);
    }
    return has_marked ? std::optional(marked) : std::nullopt;
}

std::string unmarked(std::string_view output, const MarkedFormat& format, const ShowValue& show) {
    return format.is_long ? unmarked_fields(output, format, show) : unmarked_pairs(output, format, show);
}

}  // namespace slurm::queries
