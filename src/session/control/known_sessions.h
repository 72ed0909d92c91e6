// SPDX-License-Identifier: MIT
// The sessions of this user, read from their directories, for commands in another terminal. There is no
// daemon: the next listing finds a killed session and removes its directory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/json.h"
#include "base/result.h"

namespace session {

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

// Newest first. `places` are those of session/runtime_directory.h; one that is missing or not ours has no
// sessions.
std::vector<Known> known_sessions(const std::vector<std::string>& places,
                                  DeadSessions dead = DeadSessions::remove);

// Whether the process of this session.json lives on this machine.
bool is_process_of(const base::Json& metadata);

// The session whose id starts with `text`, if only one does; for an empty text the only one that runs here.
base::Result<Known> find_among(const std::vector<Known>& sessions, std::string_view text);

}  // namespace session
