// SPDX-License-Identifier: MIT
// Columns of squeue and sinfo whose values have to be seen before they are shown: a comment has a tag at its
// end, a reason has a user's name beside it. A column that is cut to its width can't be mended afterwards, so
// the real command is asked for the whole value between two marks that nobody could foretell, and the width
// is applied here, by Slurm's own rules.
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
    bool is_long = false;  // every column ends with a mark, else marked ones stand between two
};

// For -o: "%.10k". Nothing when none of `letters` is in the format.
std::optional<MarkedFormat> mark_letters(std::string_view format, std::string_view letters,
                                         std::string_view mark);
// For -O: "Comment:.20|", names in any case.
std::optional<MarkedFormat> mark_names(std::string_view format, std::span<const std::string_view> names,
                                       std::string_view mark);

using ShowValue = std::function<std::string(std::string_view value)>;
// The output as it would have been, with each marked value as `show` makes it; headings too go through it.
std::string unmarked(std::string_view output, const MarkedFormat& format, const ShowValue& show);

}  // namespace slurm::queries
