// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "cli/verbs.h"
#include "session/session.h"

namespace cli {

struct Ran {
    int exit_code = 0;
    std::optional<session::Ending> ending;  // empty if no command ran; then the reason is already printed
};

base::Result<std::string> make_session_id();

// Makes the plan, prints it in one line, runs the command, and prints the messages at the end.
Ran run_command(const Invocation& call);

}  // namespace cli
