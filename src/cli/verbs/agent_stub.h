// SPDX-License-Identifier: MIT
// This program under the name of an agent that a session starts behind a shell or a script. Without that
// agent's profile it prints which option is missing. With it, it refuses an option that switches on the
// agent's own sandbox. Then it executes the agent, which is further along in PATH.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/profile.h"

namespace cli {

// The name of the agent that this program runs as; nothing under any other name.
std::optional<std::string> agent_stub_name(std::string_view executed, std::string_view first_word);

// Returns only if the agent can't be executed.
int run_agent_stub(const std::string& name, char** arguments);

// The first program of this name in PATH that is not this program; empty: none.
std::string program_behind_stub(std::string_view name);

// The lines, for tests.
std::string agent_stub_text(std::string_view name);
std::string own_sandbox_text(const config::Profile& profile, std::string_view option);

}  // namespace cli
