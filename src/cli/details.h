// SPDX-License-Identifier: MIT
// What the table of verbs says about one beyond its sentence, taken apart so that help and the manual can
// each set it to their own width. A line with two blanks in it is a term and its meaning, a line that begins
// with a blank goes on with that, other lines are prose; "Exit status:" begins a paragraph.
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
