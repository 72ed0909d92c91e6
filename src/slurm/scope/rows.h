// SPDX-License-Identifier: MIT
// The query behind every answer about jobs: the user's jobs and their comments. It calls squeue with our own
// format. A comment may contain any character, even line breaks. So fields are delimited by a random text
// that is made for this query and that cannot be in an earlier comment: the content cannot forge an answer. A
// malformed record is dropped together with all that follow: a row that cannot be parsed is not in scope.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "slurm/scope/identity.h"

namespace slurm {

// A letter and 32 random hexadecimal digits. The letter separates it from a number before it.
base::Result<std::string> make_nonce();

struct JobRow {
    uint32_t job = 0;     // its own id
    uint32_t leader = 0;  // the id of its array or heterogeneous job; otherwise its own
    bool is_over = false;
    std::string comment;  // the user's part
    std::optional<Tag> tag;
};

// Queries jobs of all states, so that one which has just ended is included.
std::vector<std::string> question(uint32_t uid, std::string_view nonce);
std::vector<JobRow> read_rows(std::string_view answer, std::string_view nonce);

// The same query before the user's own format, so that one answer has both: the visible row and its job. The
// visible text may contain line breaks too; it ends at the next nonce.
std::string format_with_question(std::string_view format, std::string_view nonce);

struct ShownRow {
    std::optional<JobRow> job;  // empty: the headings
    std::string text;           // of the user's format alone, with its line break
};
struct ShownRows {
    std::string before;  // squeue's output above the headings
    std::vector<ShownRow> rows;
};
ShownRows read_shown_rows(std::string_view answer, std::string_view nonce);

// The jobs of the user, and which of them the jail may see.
class JobSet {
  public:
    struct Bounds {
        std::optional<std::string> session;  // only jobs with this session in their tag
        std::optional<std::string> project;
        std::optional<uint32_t> always;  // in scope with any tag: the allocation in which the session runs
    };
    JobSet(std::vector<JobRow> rows, Bounds bounds);

    // Whether the job exists and everything that the id means is in scope: all parts of an array or a
    // heterogeneous job.
    bool contains(const JobId& id) const;
    bool contains(uint32_t job) const;

    // With more rows, under the same bounds.
    JobSet joined_with(std::vector<JobRow> more) const;

    // All rows that the id means, in scope or not. Empty: the user has no such job.
    std::vector<const JobRow*> rows_of(uint32_t job) const;
    const std::vector<JobRow>& rows() const { return rows_; }

    // All jobs in scope, with as few numbers as possible: one for a whole array.
    std::vector<uint32_t> numbers(bool with_ended = true) const;

  private:
    bool is_in_scope(const JobRow& row) const;

    std::vector<JobRow> rows_;
    Bounds bounds_;
};

}  // namespace slurm
