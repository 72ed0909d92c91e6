// SPDX-License-Identifier: MIT
// The process beside the jail that serves the jail's socket of the agent. It opens nothing: the supervisor
// sends it a connection to the user's agent for each client that needs one.
//
//   supervisor                              this process
//                                           agent?          a client needs the user's agent
//   agent + a connected socket
//   no-agent TEXT                           in the order of the requests
//   state + a memory file                   state           the questions are in the file
//   approve ID once|session
//   deny ID TEXT
//                                           notice TEXT     a line for the user
#pragma once

#include <string_view>

#include "audit/writer.h"
#include "base/file.h"
#include "ssh_agent/rules.h"

namespace ssh_agent {

inline constexpr std::string_view kNeedsAgent = "agent?";
inline constexpr std::string_view kAgent = "agent";
inline constexpr std::string_view kNoAgent = "no-agent ";
inline constexpr std::string_view kState = "state";
inline constexpr std::string_view kApprove = "approve ";
inline constexpr std::string_view kDeny = "deny ";
inline constexpr std::string_view kNotice = "notice ";
inline constexpr std::string_view kOnce = "once";

struct ServerInputs {
    base::Fd listener;
    base::Fd control;      // to the supervisor
    audit::Writer record;  // without a file, nothing is recorded
};

// Gives up files, sockets, programs and other processes, and serves until the supervisor closes its end.
// Returns the exit status.
int serve(const Rules& rules, ServerInputs inputs);

}  // namespace ssh_agent
