// SPDX-License-Identifier: MIT
// Texts with marks such as {notice} that are replaced by values. A value is never scanned for marks again, so
// one value can't include another, and a quoted value stays quoted.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace plan {

struct Mark {
    std::string_view mark;  // with its braces
    std::string value;
};
std::string with_marks_filled(std::string_view text, std::span<const Mark> marks);

// {notice}, {notice:json}, {notice:toml} and {original}: in a file of an agent (share/agents).
std::string agent_file_text(std::string_view text, const std::string& notice, const std::string& original);

}  // namespace plan
