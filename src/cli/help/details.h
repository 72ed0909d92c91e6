// SPDX-License-Identifier: MIT
// Splits the details of a verb (the text after its first sentence in the table), so that help and the manual
// can each wrap them to their own width. A line with two blanks in it is a term and its meaning, and a line
// that begins with a blank continues it. Other lines are prose; "Exit status:" begins a paragraph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

struct Detail {
    std::string term;  // empty: prose
    std::string text;
};
std::vector<Detail> details_in(std::string_view lines);

}  // namespace cli
