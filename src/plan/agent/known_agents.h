// SPDX-License-Identifier: MIT
// Agents that share/agents has a profile for, as far as a launch without their profile needs to know them. A
// launch does not parse those profiles.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/path.h"

namespace plan {

struct Draft;

struct KnownAgent {
    std::string_view name;  // of the profile and of the program
    std::span<const std::string_view>
        marks;  // relative to the home directory: one exists for every user of it
    std::span<const std::string_view> project_files;  // as in its profile (agent.project_files)
};

std::span<const KnownAgent> known_agents();

// Whether the user has used this agent. Looks at names of the home directory that other steps list anyway.
bool has_agent(const Draft& draft, const KnownAgent& agent);

// Names in the project that an agent reads as files: of the profiles in force, and of known agents that the
// user has, because a session can start one behind a shell. A directory with such a name makes it exit.
std::vector<std::string_view> project_files(const Draft& draft);

// A stub for each agent that the user has and that has no profile in this session. It prints which option is
// missing and executes the agent (cli/verbs/agent_stub.h). And one for each agent with a profile that is not
// the command itself, if it has a sandbox of its own: it refuses the options that switch that on.
void add_agent_stubs(Draft& draft);

}  // namespace plan
