// SPDX-License-Identifier: MIT
// Where the sandbox's own things lie inside a jail: /run/agent-sandbox where a backend can mount there, else
// a directory of the session's that a variable names. One list of names, for who lays them and who looks them
// up.
#pragma once

#include <string>
#include <string_view>

namespace base {

inline constexpr std::string_view kOwnDirectory = "/run/agent-sandbox";
// Of a session's own directory: /tmp/agent-sandbox-… with the first digits of its id.
inline constexpr std::string_view kPlaceParent = "/tmp";
inline constexpr std::string_view kPlacePrefix = "agent-sandbox-";
inline constexpr size_t kPlaceDigits = 16;
inline constexpr const char* kPlaceVariable = "AGENT_SANDBOX_PLACE";

inline constexpr std::string_view kOwnProgram = "agent-sandbox";  // the program itself
inline constexpr std::string_view kStubs = "stubs";               // names it is called by; first in PATH
inline constexpr std::string_view kSummary = "summary";           // the jail's rules, for `why`
inline constexpr std::string_view kNotice = "notice.md";          // what an agent is told about the jail
inline constexpr std::string_view kNotifySocket = "notify";
inline constexpr std::string_view kMailSocket = "mail";  // the same where there is no terminal to ring
inline constexpr std::string_view kSlurmSocket = "slurm";
inline constexpr std::string_view kJob = "job";  // what a Slurm job is to do
inline constexpr std::string_view kJobScript = "slurm_script";
inline constexpr std::string_view kTemporary = "tmp";  // only of a session's own directory

// Inside a jail. The variable is the jail's to change, and misleads nobody but who changed it.
std::string own_directory();
std::string own_path(std::string_view name);

}  // namespace base
