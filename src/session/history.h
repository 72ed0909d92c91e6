// SPDX-License-Identifier: MIT
// How a session begins and ends, as its record and its directory tell it. Nothing secret is in either: of the
// command what looks like a secret is left out, of variables there is nothing.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "audit/writer.h"
#include "base/json.h"
#include "plan/plan.h"
#include "session/cover_guard.h"
#include "session/session.h"

namespace session {

base::Json description_of(const plan::Plan& plan, const Surroundings& surroundings);

void record_start(audit::Writer& record, const plan::Plan& plan, const Surroundings& surroundings,
                  const std::string& policy);

// How far the helpers' chains came, by their names.
struct Helpers {
    audit::Head gateway, tracer;
};

// A process of the jail used a name that was bare for a moment. Recorded at once.
void record_held(audit::Writer& record, const BareName& name);
// Each name that was bare for a moment. Recorded at the end.
void record_uncovered(audit::Writer& record, const std::vector<backends::Uncovered>& uncovered);

// What was found in the project after the start.
void record_search(audit::Writer& record, const SearchProgress::Report& search);

void record_end(audit::Writer& record, const base::Result<Ending>& ending, const Helpers& helpers,
                std::chrono::milliseconds duration);

}  // namespace session
