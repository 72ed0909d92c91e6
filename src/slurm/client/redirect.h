// SPDX-License-Identifier: MIT
// The files that srun is told to use for its streams. One file for all tasks is opened here, inside the jail;
// a pattern with a part for each task or job is the node's affair.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"

namespace slurm::client {

// Without a part that only Slurm can fill in, and not one of Slurm's words for something else.
bool is_plain_file(std::string_view value);

struct Redirection {
    // Each unset: the stub's own stream. One file for both has one descriptor.
    std::optional<base::Fd> input;
    std::shared_ptr<base::Fd> output, errors;
    bool appends = false;
    std::string problem;  // a file could not be opened
};

// Opens them without touching what is in them.
Redirection open_files(std::span<const std::string> arguments, std::span<const std::string> environment);
// When the command really begins.
void empty_files(const Redirection& redirection);

}  // namespace slurm::client
