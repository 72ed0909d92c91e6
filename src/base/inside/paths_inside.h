// SPDX-License-Identifier: MIT
// The paths of the sandbox's own files inside a jail: /run/agent-sandbox where a backend can mount there,
// else a directory of the session that a variable names. One list of names, for the code that creates the
// files and the code that reads them.
#pragma once

#include <string>
#include <string_view>

namespace base {

inline constexpr std::string_view kOwnDirectory = "/run/agent-sandbox";
// The session's own directory: /tmp/agent-sandbox-… with the first digits of its id.
inline constexpr std::string_view kPlaceParent = "/tmp";
inline constexpr std::string_view kPlacePrefix = "agent-sandbox-";
inline constexpr size_t kPlaceDigits = 16;
inline constexpr const char* kPlaceVariable = "AGENT_SANDBOX_PLACE";

inline constexpr std::string_view kOwnProgram = "agent-sandbox";  // the program itself
inline constexpr std::string_view kOwnProgramPath = "/run/agent-sandbox/agent-sandbox";
static_assert(kOwnProgramPath.starts_with(kOwnDirectory) && kOwnProgramPath.ends_with(kOwnProgram) &&
              kOwnProgramPath.size() == kOwnDirectory.size() + 1 + kOwnProgram.size());
inline constexpr std::string_view kStubs = "stubs";       // names it is called by; first in PATH
inline constexpr std::string_view kSummary = "summary";   // the jail's rules, for `why`
inline constexpr std::string_view kNotice = "notice.md";  // text for the agent about the jail
inline constexpr std::string_view kNotifySocket = "notify";
inline constexpr std::string_view kMailSocket = "mail";  // the same for sessions without a terminal
inline constexpr std::string_view kSlurmSocket = "slurm";
inline constexpr std::string_view kJob = "job";  // the spec of a Slurm job
inline constexpr std::string_view kJobScript = "slurm_script";
inline constexpr std::string_view kTemporary = "tmp";  // only in a session's own directory

// Inside a jail. The jail can change the variable, but then it misleads only itself.
std::string own_directory();
std::string own_path(std::string_view name);

}  // namespace base
