// SPDX-License-Identifier: MIT
#include "plan/template.h"

#include <algorithm>
#include <utility>

#include "base/encoding/json.h"
#include "config/toml_text.h"

namespace plan {

std::string with_marks_filled(std::string_view text, std::span<const Mark> marks) {
    std::string filled;
    while (!text.empty()) {
        auto found =
            std::ranges::find_if(marks, [&](const Mark& mark) { return text.starts_with(mark.mark); });
        if (found != marks.end()) {
            filled += found->value;
            text.remove_prefix(found->mark.size());
        } else {
            filled += text.front();
            text.remove_prefix(1);
        }
    }
    return filled;
}

std::string agent_file_text(std::string_view text, const std::string& notice, const std::string& original) {
    // JSON replaces bytes that are not UTF-8 by U+FFFD; TOML does not accept such bytes.
    std::string quoted = base::Json(notice).dump();
    std::string valid = *base::Json::parse(quoted)->as_text();
    const Mark marks[] = {{"{notice:json}", std::move(quoted)},
                          {"{notice:toml}", config::toml_string(valid)},
                          {"{notice}", notice},
                          {"{original}", original}};
    return with_marks_filled(text, marks);
}

}  // namespace plan
