// SPDX-License-Identifier: MIT
// The paths that the agent requested when it submitted a job, stored outside the jail. Slurm itself gets
// other paths (slurm/jobs/spec.h), and an answer about the job shows these.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace slurm {

struct Record {
    std::string command;    // as `scontrol show job` shows it: the script's path and arguments
    std::string directory;  // WorkDir
    std::string output, error, input;
};

// At most ten decimal digits.
bool is_job_number(std::string_view job);

base::Status keep_record(const std::string& state_directory, const std::string& job, const Record& record);
// Nothing if there is no record.
std::optional<Record> find_record(const std::string& state_directory, const std::string& job);
// Removes records that are older than any job can be, by the file's modification time.
void remove_old_records(const std::string& state_directory, long now);

}  // namespace slurm
