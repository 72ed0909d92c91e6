// SPDX-License-Identifier: MIT
// The one question behind every answer about jobs: which jobs has the user, and what is in their comments? It
// is put to squeue with a format of ours. A comment may hold any character, line breaks too, so fields are
// delimited by a random text that is made for this question and that nobody could have put into a comment
// before: an answer can't be forged by what it carries. A record of another shape than asked is dropped, and
// with it all that follow: what is not understood is not in scope.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "slurm/scope/ids.h"
#include "slurm/scope/tag.h"

namespace slurm {

// A letter and 32 random hexadecimal digits. The letter keeps it apart from a number before it.
base::Result<std::string> make_nonce();

struct JobRow {
    uint32_t job = 0;     // of its own
    uint32_t leader = 0;  // of its array or heterogeneous job; else its own
    bool is_over = false;
    std::string comment;  // the user's part
    std::optional<Tag> tag;
};

// Jobs of all states, so that one which has just ended is known.
std::vector<std::string> question(uint32_t uid, std::string_view nonce);
std::vector<JobRow> read_rows(std::string_view answer, std::string_view nonce);

// The same question ahead of the user's own format, so that one answer has both: what a row shows, and of
// which job it is. What the user's format shows may hold line breaks too; it reaches to the next nonce.
std::string format_with_question(std::string_view format, std::string_view nonce);

struct ShownRow {
    std::optional<JobRow> job;  // none: the headings
    std::string text;           // of the user's format alone, with its line break
};
struct ShownRows {
    std::string before;  // whatever squeue has to say above the headings
    std::vector<ShownRow> rows;
};
ShownRows read_shown_rows(std::string_view answer, std::string_view nonce);

// The jobs of the user, and which of them the jail may know of.
class JobSet {
  public:
    struct Bounds {
        std::optional<std::string> session;  // only jobs with it in their tag
        std::optional<std::string> project;
        std::optional<uint32_t> always;  // whatever its tag: the allocation that the session runs in
    };
    JobSet(std::vector<JobRow> rows, Bounds bounds);

    // Whether there is such a job and all that the id stands for is in scope: of an array or a heterogeneous
    // job, everything.
    bool contains(const JobId& id) const;
    bool contains(uint32_t job) const;

    // With rows from elsewhere, under the same bounds.
    JobSet joined_with(std::vector<JobRow> more) const;

    // What the id stands for, in scope or not; empty: no such job of the user's.
    std::vector<const JobRow*> rows_of(uint32_t job) const;
    const std::vector<JobRow>& rows() const { return rows_; }

    // All in scope, as few numbers as say it: one for a whole array.
    std::vector<uint32_t> numbers(bool with_ended = true) const;

  private:
    bool is_in_scope(const JobRow& row) const;

    std::vector<JobRow> rows_;
    Bounds bounds_;
};

}  // namespace slurm
