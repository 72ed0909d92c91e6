// SPDX-License-Identifier: MIT
// Shared by the files that prepare an agent's state.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/path.h"

namespace plan {

struct Draft;

// The directory of the sandbox's own copies for an agent: one for each project with agents.per_project_state.
base::Path agent_directory(const Draft& draft, std::string_view agent);

// Content for a placeholder file that changes nothing for a program that reads it; nothing for a directory.
std::optional<std::string> neutral_content(const base::Path& path);

// Texts with marks such as {notice} that are replaced by values. A value is never scanned for marks again, so
// one value can't include another, and a quoted value stays quoted.

struct Mark {
    std::string_view mark;  // with its braces
    std::string value;
};
std::string with_marks_filled(std::string_view text, std::span<const Mark> marks);

// {notice}, {notice:json}, {notice:toml} and {original}: in a file of an agent (share/agents).
std::string agent_file_text(std::string_view text, const std::string& notice, const std::string& original);

}  // namespace plan
