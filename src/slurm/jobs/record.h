// SPDX-License-Identifier: MIT
// What the agent asked for when it submitted a job, kept outside the jail: Slurm itself is told other paths
// (slurm/jobs/spec.h), and an answer about the job shows these.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace slurm {

struct Record {
    std::string command;    // as `scontrol show job` shows it: the script's path and arguments
    std::string directory;  // WorkDir
    std::string output, error, input;
};

base::Status keep_record(const std::string& state_directory, const std::string& job, const Record& record);
// Nothing where there is none.
std::optional<Record> find_record(const std::string& state_directory, const std::string& job);
// Those that are older than any job lasts, by the modification time of the file.
void remove_old_records(const std::string& state_directory, long now);

}  // namespace slurm
