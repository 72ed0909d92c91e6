// SPDX-License-Identifier: MIT
// The messages between a client of `exec` and the session (added_commands.cc has their order).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "session/control/exec_client.h"

namespace session {

struct ExecRequest {
    const AddedCall& call;
    bool has_terminal = false;
    uint64_t ignored_signals = 0;
};
// An error: the command and its variables are too large.
base::Result<std::string> encode(const ExecRequest& about);

// One message of the session. Neither an ending nor a failure: the command has started.
struct ExecAnswer {
    std::optional<AddedEnding> ending;  // without the duration
    std::optional<base::Error> failure;
};
ExecAnswer decode_exec_answer(std::string_view text);

// The connection closed without an answer. `has_started`: the command had started.
ExecAnswer exec_answer_of_end(const Known& known, bool has_started);

std::string encode_signal(int signal, bool is_for_group);

}  // namespace session
