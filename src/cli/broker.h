// SPDX-License-Identifier: MIT
// The credentials of a launch: placeholders, the session's root certificate, and the sources of the values.
// A launch without credentials and request rules calls nothing here.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "cli/context.h"
#include "cli/verbs.h"
#include "plan/network/broker.h"
#include "secrets/outside.h"
#include "session/session.h"

namespace cli {

struct Brokerage {
    plan::Brokered brokered;
    std::shared_ptr<session::Certificates> certificates;  // filled when the plan needs the root
    bool needs_values = false;                            // for add_claims()
};
// `is_launch`: with certificates of its own, which a process makes from now on. A plan that is only printed
// has none.
base::Result<Brokerage> make_brokerage(const Settings& settings, bool is_launch);

// The claims of a token (`shape = "jwt"`) are in its placeholder, so its value is needed at the start.
// Threat: a source that the jail of an earlier session could write runs outside. So all that `draft`, a plan
// without the claims, lets the jail write is compared first (tests/cli/broker_test.cc).
base::Status add_claims(const Caller& caller, const Settings& settings, const plan::Plan& draft,
                        plan::Brokered& brokered);

// All that a jail of this plan can write on the host: no source may be there.
std::vector<base::Path> writable_of(const plan::Plan& plan);

// For programs that run outside although they have nothing to do with a session of this plan.
secrets::Surroundings surroundings_outside(const Caller& caller, const Planned& planned);

// All of them must outlive the result. A value comes from the source that the files name when it is fetched.
session::BrokerOptions broker_options(const Caller& caller, const Arguments& arguments,
                                      const Planned& planned);
// For a run that only tries a credential: the value comes from the source of the plan.
session::BrokerOptions trial_options(const secrets::Surroundings& surroundings, const Planned& planned);

}  // namespace cli
