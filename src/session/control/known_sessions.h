// SPDX-License-Identifier: MIT
// The sessions of this user for commands in another terminal: the list of sessions, and requests to one of
// them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/json.h"
#include "base/file.h"
#include "base/result.h"

namespace session {

// The sessions of this user, read from their directories, for commands in another terminal. There is no
// daemon: the next listing finds a killed session and removes its directory.

struct Known {
    enum class State { running, elsewhere };

    std::string id;
    std::string directory;
    base::Json metadata;           // session.json; an empty object if it can't be read
    State state = State::running;  // elsewhere: on another machine that shares the directory
};

// Users read and write the first digits of an id.
inline constexpr size_t kShortId = 8;
inline constexpr size_t kShortestPrefix = 4;

// What a listing does with the directory of a session that was killed.
enum class DeadSessions { remove, skip };

// Newest first. `places` are those of session/directories.h; one that is missing or not ours has no
// sessions.
std::vector<Known> known_sessions(const std::vector<std::string>& places,
                                  DeadSessions dead = DeadSessions::remove);

// Whether the process of this session.json lives on this machine.
bool is_process_of(const base::Json& metadata);

// The session whose id starts with `text`, if only one does; for an empty text the only one that runs here.
base::Result<Known> find_among(const std::vector<Known>& sessions, std::string_view text);

// Sends a request to a running session from another terminal of the same user. One request, one reply;
// docs/sessions.md has the requests.

inline constexpr size_t kLargestControlMessage = 64u << 10;
inline constexpr std::chrono::milliseconds kControlPatience{5000};

// Returns the reply, an object whose "ok" is true. A refusal by the session becomes an error with its text.
base::Result<base::Json> ask_session(const Known& known, const base::Json& request,
                                     std::chrono::milliseconds patience = kControlPatience);

// A connection for a request whose reply is not the end: `exec`.
base::Result<base::Fd> connect_to_session(const Known& known,
                                          std::chrono::milliseconds patience = kControlPatience);
// The error of a session that closed the connection.
base::Error has_ended(const Known& known);

// For a session that does not answer: kills its supervisor, and the jail dies with it. False if that process
// is not certainly the session's supervisor.
bool kill_session(const Known& known);

}  // namespace session
