// SPDX-License-Identifier: MIT
// The decision. A pure function: it reads the tree it is given and touches nothing else.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "config/profile.h"
#include "credentials/credential.h"
#include "host/facts.h"
#include "host/tree.h"
#include "plan/plan.h"
#include "plan/request.h"
#include "policy/policy.h"

namespace plan {

struct Brokered;

struct Inputs {
    const Request& request;
    const policy::Policy& policy;
    const host::Facts& facts;
    const host::Tree& tree;
    std::span<const config::Profile> agents = {};        // the profiles in force
    std::span<const config::Profile> other_agents = {};  // the jail must not see their state
    std::span<const std::string> known_places = {};      // of the project, from earlier sessions
    std::function<bool()> is_search_over = {};           // the time limit of the search; empty: no limit
    bool tells_of_agents = true;  // report an agent that is started without its profile (known_agents.h)
    const Brokered* brokered = nullptr;  // null: no credentials and no request rules
    // Of every table [credential.NAME]. A session that does not use a credential must not see its source.
    std::span<const credentials::DefinedSource> defined = {};
};

// Refuses (with the exit code in the error) what can't be enforced, a directory that may not be a project,
// and a rule without effect.
base::Result<Plan> make_plan(const Inputs& inputs);

}  // namespace plan
