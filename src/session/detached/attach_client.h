// SPDX-License-Identifier: MIT
// The client of `agent-sandbox attach`: connects this process's terminal to a session that was started with
// --detach, until the detach keys are typed, the session ends, or another client takes it.
#pragma once

#include "base/result.h"
#include "session/control/known_sessions.h"
#include "session/detached/keys.h"

namespace session {

struct AttachCall {
    DetachKeys keys;
    bool takes = false;  // from another client
};

struct Attached {
    enum class End { detached, session, taken, lost, signal };
    End end = End::lost;
    int number = 0;          // of the signal, or of the session: its exit status, or the signal that ended it
    bool by_signal = false;  // the session
};

// An error has the exit code for the caller.
base::Result<Attached> attach_to_session(const Known& known, AttachCall call);

}  // namespace session
