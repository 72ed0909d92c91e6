// SPDX-License-Identifier: MIT
// Which lines two texts have in common. Makes no system calls.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace diff {

// Each line with its newline; the last one may lack it.
std::vector<std::string_view> lines_of(std::string_view text);

// Lines [before_begin, before_end) of the first text are replaced by [after_begin, after_end) of the second.
struct Replacement {
    size_t before_begin = 0, before_end = 0;
    size_t after_begin = 0, after_end = 0;
    bool operator==(const Replacement&) const = default;
};

// The replacements that make the second text from the first, in their order; two of them have at least one
// common line between them. The shortest list for texts that differ in up to some hundred lines. For others
// the time stays bounded, and the list may be longer.
std::vector<Replacement> compare(const std::vector<std::string_view>& before,
                                 const std::vector<std::string_view>& after);

}  // namespace diff
