// SPDX-License-Identifier: MIT
// A job gets no credential of the session: its value stays at the gateway, which the job's node does not
// have. So the placeholders, the session's root certificate and its own names for hosts stay out of a job
// too, and the submission says so.
//
// Threat: Slurm stores scripts, arguments and environments in its spool directory, and other users can see
// some of them (scontrol show job). Tests: tests/slurm/credentials.bats.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "slurm/chaperon/conversation.h"

namespace slurm {

// Text that a job would get, as the message names it: "the script".
struct JobText {
    std::string_view what;
    std::string_view text;
};
std::optional<Denial> refuse_placeholders(const chaperon::Context& context, std::span<const JobText> texts);
std::optional<Denial> refuse_placeholders(const chaperon::Context& context,
                                          const std::vector<std::string>& arguments);

// Removes the session's own values from the environment of a job.
void leave_out_session(const chaperon::Context& context, std::vector<std::string>& environment);

// One line for each credential, that the job runs without it. `command` is Slurm's, such as sbatch.
void tell_about_credentials(const chaperon::Context& context, std::string_view command,
                            chaperon::Conversation& conversation);

}  // namespace slurm
