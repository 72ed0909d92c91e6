// SPDX-License-Identifier: MIT
// Threat: a JSON object with a member twice. The library behind base::Json keeps the last one, and a server's
// may keep the first.
#pragma once

#include <cstddef>
#include <string_view>

namespace network::requests {

// The colons of valid JSON that follow the names of the outermost object.
inline size_t count_members(std::string_view json) {
    size_t depth = 0, colons = 0;
    bool is_text = false;
    for (size_t i = 0; i < json.size(); ++i) {
        char letter = json[i];
        if (is_text) {
            if (letter == '\\') ++i;
            if (letter == '"') is_text = false;
            continue;
        }
        is_text = letter == '"';
        if (letter == '{' || letter == '[') ++depth;
        if (letter == '}' || letter == ']') --depth;
        if (letter == ':' && depth == 1) ++colons;
    }
    return colons;
}

}  // namespace network::requests
