// SPDX-License-Identifier: MIT
// The stored data of a job: what goes with it to its node, and the paths that the agent requested.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace slurm {

// The paths that the agent requested when it submitted a job, stored outside the jail. Slurm itself gets
// other paths (slurm/jobs/spec.h), and an answer about the job shows these.

struct Record {
    std::string
        project;  // as in the tag (slurm/scope/identity.h): the chaperon itself submitted the job for it
    std::string command;    // as `scontrol show job` shows it: the script's path and arguments
    std::string directory;  // WorkDir
    std::string output, error, input;
};

// At most ten decimal digits.
bool is_job_number(std::string_view job);

base::Status keep_record(const std::string& state_directory, const std::string& job, const Record& record);
// Nothing if there is no record.
std::optional<Record> find_record(const std::string& state_directory, const std::string& job);
// The messages of the jail and of Slurm about a batch job, from before its own output was open: why it did
// not start. Empty without a message. At most the last few lines.
std::string messages_about(const std::string& state_directory, const std::string& job);
// Removes records that are older than any job can be, by the file's modification time.
void remove_old_records(const std::string& state_directory, long now);

// The data that goes with a job or a step to its node: the requested jail, and the command in it. Slurm does
// not read it. For a batch job it is lines of base64 after the one line for Slurm. For a step it is in
// variables, because other users of the node can read arguments but not variables.
//
// On the node the spec can only restrict: the program reads it like a command line, below the user's and the
// administrator's files of that node.

struct Spec {
    // ---- For the program outside the jail, on the node; written by the chaperon.
    std::string project;                 // physical
    uint64_t project_inode = 0;          // to detect that the path leads to another directory later
    std::vector<std::string> options;    // of the program
    std::vector<std::string> variables;  // its settings, "AGENT_SANDBOX_…=value"
    std::string session;                 // for the tag

    // ---- For the command inside; chosen by the agent.
    bool is_batch = false;
    std::string script;                    // of a batch job
    std::vector<std::string> command;      // of a step; for a batch job, the arguments of the script
    std::vector<std::string> environment;  // the agent's own, which overrides the job's
    std::string directory;
    std::string submitted_from;  // the directory in which the agent called Slurm's command
    // Names with Slurm's patterns, opened inside the jail. Empty: keep the descriptors that Slurm opened.
    std::string output, error, input;
    bool appends = false;
};

// The argument that marks a start by Slurm: for a job or a step, and for an allocation.
inline constexpr std::string_view kEntryRole = "slurm-entry";
inline constexpr std::string_view kHoldRole = "slurm-hold";
// Slurm's own size limit for a script.
inline constexpr size_t kLargestJobFile = (4u << 20) - 1;

// `program` is the path on the node. An error if the kernel would not accept it as an interpreter, or if the
// file is too large for Slurm.
// `directives` are lines for Slurm, each "#SBATCH …", for options of the user that must reach it.
base::Result<std::string> job_file(const std::string& program, const Spec& spec,
                                   std::string_view directives = {});
base::Result<Spec> spec_from_job_file(std::string_view text);

// The variables of a step, "NAME=value", each within the kernel's limit.
base::Result<std::vector<std::string>> step_variables(const Spec& spec);
// Removes them from `environment`. Returns nothing if they are not set.
base::Result<std::optional<Spec>> take_step_variables(std::vector<std::string>& environment);

std::string encode(const Spec& spec);
base::Result<Spec> decode_spec(std::string_view text);

}  // namespace slurm
