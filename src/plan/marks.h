// SPDX-License-Identifier: MIT
// Texts with marks such as {notice} that are filled in. What is filled in is never looked at again: the words
// of one can't stand for those of another, whatever they are, and what is quoted stays quoted.
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

// {notice}, {notice:json}, {notice:toml} and {original}: a file of an agent's (share/agents).
std::string agent_file_text(std::string_view text, const std::string& notice, const std::string& original);

}  // namespace plan
