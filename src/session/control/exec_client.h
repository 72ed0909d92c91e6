// SPDX-License-Identifier: MIT
// The client of `agent-sandbox exec`: adds a command to a running session and waits for its end. The command
// gets this process's standard streams, or a terminal of its own whose bytes are relayed.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/bounded_text.h"
#include "base/result.h"
#include "session/control/known_sessions.h"

namespace session {

// What the command wrote. Output that nothing reads any more when the command has ended is lost.
struct CapturedOutput {
    static constexpr size_t kMostOfStream = 256u << 10;
    base::BoundedText out{kMostOfStream}, err{kMostOfStream};
};

struct AddedCall {
    std::vector<std::string> command;
    std::vector<std::string> environment;  // "NAME=value", in addition to the session's
    std::string directory;                 // empty: the session's working directory
    bool wants_streams = false;            // no terminal of its own
    CapturedOutput* captured = nullptr;    // gets standard output and error in place of the caller's
};

struct AddedEnding {
    int exit_code = 0;  // 128 + n after signal n
    bool by_signal = false;
    bool with_session = false;  // the session has ended, and the command with it
    std::chrono::milliseconds duration{0};
    std::string lost_output;  // why output is missing in a file; empty: it is complete
};

// An error has the exit code for the caller: 125, 126 or 127.
base::Result<AddedEnding> exec_in_session(const Known& known, const AddedCall& call);

}  // namespace session
