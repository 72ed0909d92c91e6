// SPDX-License-Identifier: MIT
// Columns of squeue and sinfo whose values must be changed before they are shown: a comment ends with a tag,
// a reason has a user's name beside it. A value that is truncated to the column's width cannot be repaired.
// So the real command prints the whole value between two random marks, and the width is applied here, by
// Slurm's own rules.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slurm::queries {

struct Column {
    std::optional<size_t> width;
    bool is_right = false;
    std::string suffix;  // of -O
    bool is_marked = true;
};

struct MarkedFormat {
    std::string format;
    std::vector<Column> columns;
    std::string mark;
    bool is_long = false;  // every column ends with a mark; otherwise a marked value is between two marks
};

// For -o: "%.10k". Nothing if the format has none of `letters`.
std::optional<MarkedFormat> mark_letters(std::string_view format, std::string_view letters,
                                         std::string_view mark);
// For -O: "Comment:.20|", names in upper or lower case.
std::optional<MarkedFormat> mark_names(std::string_view format, std::span<const std::string_view> names,
                                       std::string_view mark);

using ShowValue = std::function<std::string(std::string_view value)>;
// The output without marks, with each marked value replaced by the result of `show`. This includes headings.
std::string unmarked(std::string_view output, const MarkedFormat& format, const ShowValue& show);

}  // namespace slurm::queries
