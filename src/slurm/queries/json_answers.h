// SPDX-License-Identifier: MIT
// The answers of --json. With this option Slurm's commands print whole records of every user (22.05 even
// ignores the options that select), so the records are chosen here. A strict parser splits the text. What it
// does not understand is dropped: a part of the document with an unknown name, a job without a number. The
// text of a record that is shown stays as Slurm wrote it, except for the values that are replaced.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/queries/redact.h"

namespace slurm::queries {

struct JsonMember {
    std::string name;
    std::string_view value;  // its text, as it stands in the document
};

// Nothing if the text is not one object, or not one array, or not JSON at any depth.
std::optional<std::vector<JsonMember>> json_members(std::string_view text);
std::optional<std::vector<std::string_view>> json_items(std::string_view text);

// A number without sign, fraction and exponent.
std::optional<uint32_t> json_number(std::string_view text);

struct JobsOfJson {
    std::function<bool(uint32_t job)> is_shown;
    FindRecord find;           // as for `scontrol show job`
    std::string_view program;  // the command that Slurm got
};
// The document with these jobs alone, without tags and with the paths that the agent requested.
std::optional<std::string> with_shown_jobs(std::string_view document, const JobsOfJson& jobs);

// The document about nodes, partitions, reservations: names of other users are replaced.
std::optional<std::string> with_masked_users(std::string_view document, std::string_view own);

}  // namespace slurm::queries
