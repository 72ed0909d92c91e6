// SPDX-License-Identifier: MIT
// The files for srun's streams. One file for all tasks is opened here, inside the jail. A pattern with a part
// per task or job is opened on the node.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"

namespace slurm::client {

// The name has no pattern that only Slurm can fill in, and is not a keyword of Slurm.
bool is_plain_file(std::string_view value);

struct Redirection {
    // Unset: the stub's own stream. One file for both streams has one descriptor.
    std::optional<base::Fd> input;
    std::shared_ptr<base::Fd> output, errors;
    bool appends = false;
    std::string problem;  // a file could not be opened
};

// Opens them and does not change their content.
Redirection open_files(std::span<const std::string> arguments, std::span<const std::string> environment);
// Truncates them when the command really starts.
void empty_files(const Redirection& redirection);

}  // namespace slurm::client
