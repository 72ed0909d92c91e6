// SPDX-License-Identifier: MIT
// The query to sacct behind an answer of sacct: the jobs and their comments. It is delimited like the query
// to squeue (slurm/scope/rows.h). Comments are empty if the site does not store them, and in Slurm itself
// until a job has ended.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slurm/scope/rows.h"

namespace slurm::queries {

std::vector<std::string> accounting_question(uint32_t uid, std::string_view nonce);
std::vector<JobRow> read_accounting_rows(std::string_view answer, std::string_view nonce);

// The requested width of the comment column. sacct prints the table with wide comments.
struct CommentColumn {
    size_t width = 14;  // sacct's default
    bool is_left = false;
};

// "ALL" means every field. The fields are those that sacct lists itself, in its order.
bool names_all_fields(std::string_view format);
std::string with_fields(std::string_view format, std::string_view fields);

// Reads the width from "jobid,comment%-30" and makes the comments in `format` wide. Nothing if the format has
// no comment.
std::optional<CommentColumn> widen_comments(std::string& format);
std::string with_narrow_comments(std::string text, const CommentColumn& column,
                                 const std::vector<JobRow>& rows);

}  // namespace slurm::queries
