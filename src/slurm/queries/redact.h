// SPDX-License-Identifier: MIT
// Changes answers before the agent gets them: names of other users, paths of jobs, and columns that contain
// a tag or a user.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/jobs/spec.h"

namespace slurm::queries {

// Removes information from answers about nodes and the cluster: the names of other users, and lines of the
// configuration that lead to secrets. Pure, line by line.

// Replaces a user's name.
inline constexpr std::string_view kSomebody = "-";

// Masks "root(0)" and "root". The user's own name and values that are not names stay.
std::string masked_user(std::string_view shown, std::string_view own);

// Masks each name of a list with commas, and shows "-" once.
std::string masked_users(std::string_view list, std::string_view own);

// For nodes: the author of a reason, "Reason=bad disk [root@2026-…]", and the node's exclusive user,
// "Owner=".
std::string masked_node(std::string_view line, std::string_view own);

// For reservations: "Users=".
std::string masked_reservation(std::string_view line, std::string_view own);

// Empty for a line whose key is a secret or leads to one: "AuthInfo = socket=…".
std::string masked_configuration(std::string_view line);

// Rewrites the output of `scontrol show job` as it would be without the jail: the comment without its tag,
// and the paths that the agent requested in place of those that Slurm got.

// Finds a record by the number of a job, of its array or of its heterogeneous job. Called only with numbers
// from the text. A comment can contain a line that looks like the head of another job, so the function must
// check the scope.
using FindRecord = std::function<std::optional<Record>(uint32_t job)>;

// `text` has many lines per job, without --oneliner. `program` is the command that Slurm got for a job
// without a record, such as one of srun.
std::string with_wanted_paths(std::string_view text, const FindRecord& find, std::string_view program = {});

// The same text in the layout of --oneliner.
std::string one_line_each(std::string_view text);

// Columns of squeue and sinfo whose values must be changed before they are shown: a comment ends with a tag,
// a reason has a user's name beside it. A value that is truncated to the column's width cannot be repaired.
// So the real command prints the whole value between two random marks, and the width is applied here, by
// Slurm's own rules.

struct Column {
    std::optional<size_t> width;
    bool is_right = false;
    std::string suffix;  // of -O
    bool is_marked = true;
};

struct MarkedFormat {
    std::string format;
    std::vector<Column> columns;
    std::string mark;
    bool is_long = false;  // every column ends with a mark; otherwise a marked value is between two marks
};

// For -o: "%.10k". Nothing if the format has none of `letters`.
std::optional<MarkedFormat> mark_letters(std::string_view format, std::string_view letters,
                                         std::string_view mark);
// For -O: "Comment:.20|", names in upper or lower case.
std::optional<MarkedFormat> mark_names(std::string_view format, std::span<const std::string_view> names,
                                       std::string_view mark);

using ShowValue = std::function<std::string(std::string_view value)>;
// The output without marks, with each marked value replaced by the result of `show`. This includes headings.
std::string unmarked(std::string_view output, const MarkedFormat& format, const ShowValue& show);

}  // namespace slurm::queries
