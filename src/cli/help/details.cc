// SPDX-License-Identifier: MIT
#include "cli/help/details.h"

#include "base/format.h"
#include "base/text.h"

namespace cli {

std::vector<Detail> details_in(std::string_view lines) {
    std::vector<Detail> details;
    if (lines.empty()) return details;
    for (std::string_view line : base::split(lines, '\n')) {
        size_t gap = line.find("  ");
        bool goes_on = line.starts_with(' ');
        bool is_term = !goes_on && gap != std::string_view::npos;
        bool is_prose = !goes_on && !is_term;
        bool follows_prose = !details.empty() && details.back().term.empty();
        if (is_term) {
            details.push_back({std::string(line.substr(0, gap)), std::string(base::trim(line.substr(gap)))});
        } else if (is_prose && (!follows_prose || line.starts_with("Exit status:"))) {
            details.push_back({"", std::string(line)});
        } else if (details.empty()) {
            details.push_back({"", std::string(base::trim(line))});
        } else {
            details.back().text += base::format(" {}", base::trim(line));
        }
    }
    return details;
}

}  // namespace cli
