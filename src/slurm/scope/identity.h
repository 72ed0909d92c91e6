// SPDX-License-Identifier: MIT
// Which job is meant and to which session it belongs: job ids as Slurm's commands accept them, and the tag
// in a job's comment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/path.h"
#include "base/result.h"

namespace slurm {

// Job ids as Slurm's commands accept them. An id is parsed completely or rejected, and a real command gets
// its canonical text: the checked id is the one that is used.
//
//   17           a job, or all tasks of an array
//   17_4         a task of an array
//   17_[1-3,7%2] several tasks
//   17+1         a component of a heterogeneous job
//   17.0         a step; also 17.batch, 17.extern, 17.interactive, 17_4.0

struct JobId {
    uint32_t job = 0;
    std::optional<std::string> tasks;  // "4", "[1-3,7%2]"
    std::optional<uint32_t> component;
    std::optional<std::string> step;  // "0", "batch"

    bool operator==(const JobId&) const = default;
};

// A longer list is refused: no user writes it, and a real command line has no space for more.
inline constexpr size_t kMaximumIds = 10'000;
inline constexpr size_t kMaximumIdText = 1024;

base::Result<JobId> parse_job_id(std::string_view text);
// Commas between ids. Empty items are ignored, as in Slurm.
base::Result<std::vector<JobId>> parse_job_ids(std::string_view list);

std::string text_of(const JobId& id);

// Decimal digits alone, below `limit`. Leading zeros are accepted.
std::optional<uint32_t> number_below(std::string_view digits, uint32_t limit);

// Numbers that no job ever has. A cluster counts the lower 26 bits of an id from 1, and in these numbers they
// are 0. The upper bits are those of a federation. Such a number replaces the id of a job that the jail may
// not see, so that Slurm itself gives its answer for a job that does not exist. (squeue reads ids as signed
// numbers, hence 31 and not 63.)
inline constexpr uint32_t kStandIns = 31;
constexpr uint32_t stand_in(uint32_t index) {
    return (index % kStandIns + 1) << 26;
}

// The tag at the end of a job's comment contains the job's session and project:
//
//   the user's own text agent-sandbox:1:SESSION:PROJECT
//
// SESSION and PROJECT are 32 lower-case hexadecimal digits. The marker and its version are fixed. The user's
// text comes first and unchanged, so that other readers of the comment see it from its beginning. Only the
// very end of a comment is a tag, and our tag follows every comment from the jail: text of the agent that
// looks like a tag is only text.

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
