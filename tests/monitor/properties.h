// SPDX-License-Identifier: MIT
// Properties of any text on the monitor's screen and any bytes from its keyboard. Returns the claim that
// these bytes break, or null.
#pragma once

#include <string>
#include <string_view>

#include "base/text.h"
#include "monitor/cells.h"
#include "monitor/terminal.h"

namespace monitor {

inline const char* broken_for_cells(std::string_view bytes) {
    if (keys_in(bytes).size() > bytes.size()) return "a key takes a byte";
    for (size_t width : {0, 1, 2, 7, 40}) {
        std::string shown = cut(bytes, width);
        if (base::printable(shown) != shown) return "what is shown is printable";
        if (cells_of(shown) > width) return "what is shown fits";
        for (const std::string& filled : {padded(bytes, width), padded_left(bytes, width)}) {
            if (cells_of(filled) != width) return "what is padded fills its cells";
        }
    }
    if (age_of(bytes).count() < 0) return "nothing is younger than now";
    if (cells_of(clock_text(bytes)) != 8) return "a time of day takes eight cells";
    return nullptr;
}

}  // namespace monitor
