// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "cli/verbs.h"
#include "session/session.h"

namespace cli {

struct Ran {
    int exit_code = 0;
    std::optional<session::Ending> ending;  // none where nothing ran; then it was told why
};

base::Result<std::string> make_session_id();

// Plans, says in one line what will hold, runs, and tells what is to be told.
Ran run_command(const Invocation& call);

}  // namespace cli
