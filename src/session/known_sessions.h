// SPDX-License-Identifier: MIT
// The sessions of this user as their directories tell of them, for who looks from another terminal. There is
// no daemon: a session that was killed is found dead by whoever looks next, and its directory is removed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace session {

struct Known {
    enum class State { running, elsewhere };

    std::string id;
    std::string directory;
    base::Json metadata;           // session.json; an object without members where that can't be read
    State state = State::running;  // elsewhere: on another machine that shares the directory
};

// As users read and write it: the first digits.
inline constexpr size_t kShortId = 8;
inline constexpr size_t kShortestPrefix = 4;

// Newest first. Of the places of session/runtime_place.h, one that is not there or not ours has none.
std::vector<Known> known_sessions(const std::vector<std::string>& places);

// Whether the process that wrote this session.json lives, on this machine.
bool is_process_of(const base::Json& metadata);

// The session that any unique prefix of an id names; for an empty text the only one that runs here.
base::Result<Known> find_session(const std::vector<std::string>& places, std::string_view text);
base::Result<Known> find_among(const std::vector<Known>& sessions, std::string_view text);

}  // namespace session
