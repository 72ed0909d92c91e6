// SPDX-License-Identifier: MIT
// The tag at the end of a job's comment contains the job's session and project:
//
//   the user's own text agent-sandbox:1:SESSION:PROJECT
//
// SESSION and PROJECT are 32 lower-case hexadecimal digits. The marker and its version are fixed. The user's
// text comes first and unchanged, so that other readers of the comment see it from its beginning. Only the
// very end of a comment is a tag, and our tag follows every comment from the jail: text of the agent that
// looks like a tag is only text.
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

// slurmctld's limit for a comment (22.05). A longer one fails as "parameter too long".
inline constexpr size_t kMaximumComment = 1024;

bool is_tag_part(std::string_view text);  // 32 lower-case hexadecimal digits

// The project's part: 128 bits of a hash of its path. Other users may see the comment, and the hash does not
// reveal the path.
std::string project_part(const base::Path& project);

Tag make_tag(std::string_view session, const base::Path& project);
std::string text_of(const Tag& tag);

// An error if the result is too long for Slurm.
base::Result<std::string> append_tag(std::string_view comment, const Tag& tag);

struct SplitComment {
    std::string user_part;
    std::optional<Tag> tag;
};
SplitComment split_comment(std::string_view comment);

// Removes every tag, at any position, together with the blank before it: for output in which comments cannot
// be separated from the rest.
std::string without_tags(std::string_view text);

}  // namespace slurm
