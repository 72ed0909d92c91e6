// SPDX-License-Identifier: MIT
// What travels with a job or a step to its node: which jail is asked for, and what runs in it. Slurm sees
// none of it: a batch job is a file of one line for Slurm and lines of base64 for us, a step has it in
// variables, which other users of the node can't read as they can read arguments.
//
// On the node the spec can only narrow: it is read as the command line of the program, under the user's and
// the administrator's files of that node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace slurm {

struct Spec {
    // ---- For the program outside the jail, on the node; written by the chaperon.
    std::string project;                 // physical
    uint64_t project_inode = 0;          // its path may lead to another directory by then
    std::vector<std::string> options;    // of the program
    std::vector<std::string> variables;  // its settings, "AGENT_SANDBOX_…=value"
    std::string session;                 // of the tag

    // ---- For what runs inside; chosen by the agent.
    bool is_batch = false;
    std::string script;                    // of a batch job
    std::vector<std::string> command;      // of a step; of a batch job, the arguments of the script
    std::vector<std::string> environment;  // the agent's own, laid over the job's
    std::string directory;
    std::string submitted_from;  // where Slurm's own command was called, to the agent's knowledge
    // Names with Slurm's patterns, opened inside the jail; empty: as Slurm gave them.
    std::string output, error, input;
    bool appends = false;
};

// The words by which the program knows that Slurm starts it: for a job or a step, and for an allocation.
inline constexpr std::string_view kEntryRole = "slurm-entry";
inline constexpr std::string_view kHoldRole = "slurm-hold";
// Slurm's own limit of a script.
inline constexpr size_t kLargestJobFile = (4u << 20) - 1;

// `program` is the path on the node. An error where the kernel could not take it for an interpreter, or where
// the whole is more than Slurm takes.
// `directives` are lines for Slurm, each "#SBATCH …", where the user's own word reaches it.
base::Result<std::string> job_file(const std::string& program, const Spec& spec,
                                   std::string_view directives = {});
base::Result<Spec> spec_from_job_file(std::string_view text);

// The variables of a step, "NAME=value", each within what the kernel takes.
base::Result<std::vector<std::string>> step_variables(const Spec& spec);
// Takes them out of `environment`; nothing where there are none.
base::Result<std::optional<Spec>> take_step_variables(std::vector<std::string>& environment);

std::string encode(const Spec& spec);
base::Result<Spec> decode_spec(std::string_view text);

}  // namespace slurm
