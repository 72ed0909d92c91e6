// SPDX-License-Identifier: MIT
// The question to sacct behind an answer of sacct: which jobs, and which comments. Delimited like the
// question to squeue (slurm/scope/rows.h). A site that does not store comments, and Slurm itself until a job
// has ended, answers with none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slurm/scope/rows.h"

namespace slurm::queries {

std::vector<std::string> accounting_question(uint32_t uid, std::string_view nonce);
std::vector<JobRow> read_accounting_rows(std::string_view answer, std::string_view nonce);

// The table that sacct prints, asked for with wide comments, with the width that was wanted.
struct CommentColumn {
    size_t width = 14;  // sacct's own
    bool is_left = false;
};

// "ALL" stands for every field; the fields are those that sacct names itself, in its order.
bool names_all_fields(std::string_view format);
std::string with_fields(std::string_view format, std::string_view fields);

// Reads the width from "jobid,comment%-30"; nothing where no comment is in the format. `format` gets wide
// ones.
std::optional<CommentColumn> widen_comments(std::string& format);
std::string with_narrow_comments(std::string text, const CommentColumn& column,
                                 const std::vector<JobRow>& rows);

}  // namespace slurm::queries
