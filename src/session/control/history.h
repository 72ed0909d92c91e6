// SPDX-License-Identifier: MIT
// Describes the start and the end of a session for its record and its directory. Neither contains secrets:
// words of the command that look like a secret are left out, and so are all variables.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "audit/writer.h"
#include "base/encoding/json.h"
#include "plan/plan.h"
#include "session/guard/cover_guard.h"
#include "session/guard/git_config_gate.h"
#include "session/session.h"

namespace session {

base::Json description_of(const plan::Plan& plan, const SessionOptions& options);

void record_start(audit::Writer& record, const plan::Plan& plan, const SessionOptions& options,
                  const std::string& policy);

// The last line of each helper's hash chain.
struct Helpers {
    audit::Head gateway, tracer;
};

// A process of the jail used a name that was uncovered for a moment. Recorded at once.
void record_held(audit::Writer& record, const BareName& name);
// A program inside wanted to change a git configuration.
void record_git(audit::Writer& record, const GitVerdict& verdict);
// A program inside was refused namespaces of its own. Recorded at once.
void record_refused_program(audit::Writer& record, const std::string& program);
// Each name that was uncovered for a moment. Recorded at the end.
void record_uncovered(audit::Writer& record, const std::vector<backends::Uncovered>& uncovered);
// New protected names that were moved out of the project. Recorded at the end.
void record_moved(audit::Writer& record, const std::vector<MovedName>& moved);
// The guards of this session have no inotify watch. Recorded at the start.
inline constexpr std::string_view kUnwatched =
    "the user has no inotify instance or watch left (fs.inotify.max_user_instances, max_user_watches): a "
    "file "
    "that is created or replaced outside is covered up to ten seconds late";
void record_unwatched(audit::Writer& record, const base::Path& project);
// The keeper's reports are not complete. Recorded at the end.
void record_lost_reports(audit::Writer& record, const base::Path& project, std::string_view reason);

// Files that the search found in the project after the start.
void record_search(audit::Writer& record, const SearchProgress::Report& search);

void record_end(audit::Writer& record, const base::Result<Ending>& ending, const Helpers& helpers,
                std::chrono::milliseconds duration);

}  // namespace session
