// SPDX-License-Identifier: MIT
// Shared by the verbs about running sessions: the directories, and the choice of a session.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/json.h"
#include "base/result.h"
#include "cli/verbs.h"
#include "session/control/known_sessions.h"

namespace cli {

// The caller's sessions, and the directories that were searched. Inside a jail: an error that this works only
// outside.
struct Sessions {
    std::vector<std::string> places;
    std::string home;
    std::vector<session::Known> known;
};
base::Result<Sessions> find_sessions(const Invocation& call,
                                     session::DeadSessions dead = session::DeadSessions::remove);

// For `return wrong_words(…)`: the user called a verb with the wrong number of words.
int wrong_words(const Invocation& call, std::string what);

// "4f2a1b3c"
std::string short_id(const session::Known& known);

}  // namespace cli
