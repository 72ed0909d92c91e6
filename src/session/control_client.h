// SPDX-License-Identifier: MIT
// Asking a running session for something, from another terminal of the same user. One request, one reply;
// docs/sessions.md has the requests.
#pragma once

#include <chrono>

#include "base/json.h"
#include "base/result.h"
#include "session/known_sessions.h"

namespace session {

inline constexpr size_t kLargestControlMessage = 64u << 10;
inline constexpr std::chrono::milliseconds kControlPatience{5000};

// The reply, an object whose "ok" is true. What the session itself refuses is an error with its words.
base::Result<base::Json> ask_session(const Known& known, const base::Json& request,
                                     std::chrono::milliseconds patience = kControlPatience);

// For one that does not answer: its supervisor is killed, and with it the jail. False where that process is
// not surely the session's.
bool kill_session(const Known& known);

}  // namespace session
