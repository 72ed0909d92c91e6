// SPDX-License-Identifier: MIT
// The tag at the end of a job's comment says from which session and which project the job came:
//
//   the user's own text agent-sandbox:1:SESSION:PROJECT
//
// SESSION and PROJECT are 32 lower-case hexadecimal digits; the marker and its version are fixed. The user's
// text comes first and verbatim, so that whoever reads the comment elsewhere reads it from its beginning.
// Only the very end of a comment is a tag, and every comment that the jail gives is followed by ours: text of
// the agent that looks like one is text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/path.h"
#include "base/result.h"

namespace slurm {

struct Tag {
    std::string session;
    std::string project;

    bool operator==(const Tag&) const = default;
};

// What slurmctld takes for a comment (22.05); a longer one fails as "parameter too long".
inline constexpr size_t kMaximumComment = 1024;

bool is_tag_part(std::string_view text);  // 32 lower-case hexadecimal digits

// The project's part: 128 bits of a hash of its path, so that the comment, which other users may see, does
// not tell the path.
std::string project_part(const base::Path& project);

Tag make_tag(std::string_view session, const base::Path& project);
std::string text_of(const Tag& tag);

// Fails when Slurm would not take the whole.
base::Result<std::string> append_tag(std::string_view comment, const Tag& tag);

struct SplitComment {
    std::string user_part;
    std::optional<Tag> tag;
};
SplitComment split_comment(std::string_view comment);

// Takes every text of a tag out, wherever it stands, together with the blank before it: for output in which
// comments can't be told from the rest.
std::string without_tags(std::string_view text);

}  // namespace slurm
