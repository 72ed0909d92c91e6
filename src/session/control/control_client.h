// SPDX-License-Identifier: MIT
// Sends a request to a running session from another terminal of the same user. One request, one reply;
// docs/sessions.md has the requests.
#pragma once

#include <chrono>

#include "base/encoding/json.h"
#include "base/result.h"
#include "session/control/known_sessions.h"

namespace session {

inline constexpr size_t kLargestControlMessage = 64u << 10;
inline constexpr std::chrono::milliseconds kControlPatience{5000};

// Returns the reply, an object whose "ok" is true. A refusal by the session becomes an error with its text.
base::Result<base::Json> ask_session(const Known& known, const base::Json& request,
                                     std::chrono::milliseconds patience = kControlPatience);

// For a session that does not answer: kills its supervisor, and the jail dies with it. False if that process
// is not certainly the session's supervisor.
bool kill_session(const Known& known);

}  // namespace session
