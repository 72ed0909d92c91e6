// SPDX-License-Identifier: MIT
#include "cli/sessions/sessions.h"

#include "base/file.h"
#include "base/inside/paths_inside.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "session/runtime_directory.h"

namespace cli {

base::Result<Sessions> find_sessions(const Invocation& call, session::DeadSessions dead) {
    if (base::file_exists(base::own_path(base::kOwnProgram))) {
        return base::Error{.what = call.arguments.verb + " is for the outside of a jail",
                           .advice = "call it in another terminal",
                           .exit_code = base::ExitCode::usage};
    }
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return workspace.error();
    Sessions sessions;
    sessions.places =
        session::runtime_places(host::variable(call.caller.environment, "XDG_RUNTIME_DIR").value_or(""),
                                workspace->files.state_directory);
    sessions.home = workspace->identity.home.str();
    sessions.known = session::known_sessions(sessions.places, dead);
    return sessions;
}

int wrong_words(const Invocation& call, std::string what) {
    return call.output.fail({.what = std::move(what),
                             .advice = usage_of(call.arguments.verb),
                             .exit_code = base::ExitCode::usage});
}

std::string short_id(const session::Known& known) {
    return known.id.substr(0, session::kShortId);
}

}  // namespace cli
