// SPDX-License-Identifier: MIT
// The verbs about running sessions, `ps`, `stop` and `notify`, and the choice of a session.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/json.h"
#include "base/result.h"
#include "cli/verbs.h"
#include "session/control/known_sessions.h"

namespace cli {

// Shared by the verbs about running sessions: the directories, and the choice of a session.

// The caller's sessions, and the directories that were searched. Inside a jail: an error that this works only
// outside.
struct Sessions {
    std::vector<std::string> places;
    std::string home;
    std::vector<session::Known> known;
};
base::Result<Sessions> find_sessions(const Invocation& call,
                                     session::DeadSessions dead = session::DeadSessions::remove);

// The session that the call names. Without a name: the only session of this project, else the only one.
base::Result<session::Known> choose_session(const Invocation& call, const std::vector<session::Known>& known);

// With the exit code of a run that did not start, so that a script can distinguish our refusal from the
// command's status.
base::Error as_refusal(base::Error error);

// For `return wrong_words(…)`: the user called a verb with the wrong number of words.
int wrong_words(const Invocation& call, std::string what);

// "4f2a1b3c"
std::string short_id(const session::Known& known);

}  // namespace cli
