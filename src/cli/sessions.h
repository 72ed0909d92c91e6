// SPDX-License-Identifier: MIT
// What the verbs about running sessions share: where those are, and which one is meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cli/verbs.h"
#include "session/known_sessions.h"

namespace cli {

// The sessions that the caller has, and where they were looked for. Inside a jail: an error, which says that
// this is for outside.
struct Sessions {
    std::vector<std::string> places;
    std::string home;
    std::vector<session::Known> known;
};
base::Result<Sessions> find_sessions(const Invocation& call);

// For `return wrong_words(…)`: a verb that was called with the wrong number of words.
int wrong_words(const Invocation& call, std::string what);

// "4f2a1b3c"
std::string short_id(const session::Known& known);

}  // namespace cli
