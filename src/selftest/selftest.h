// SPDX-License-Identifier: MIT
// The self-test: plants a world, runs every probe outside as its control and inside a real jail, checks what
// remained, and judges. It does not read or change the user's own files, and it removes everything it made,
// however the run ends.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"
#include "host/facts.h"
#include "plan/plan.h"
#include "policy/merge.h"
#include "selftest/judgement.h"
#include "session/session.h"

namespace selftest {

// A jail to plan, by the normal path from settings to plan.
struct JailRequest {
    std::vector<std::string> environment;
    base::Path project;
    std::vector<Change> changes;
    std::vector<std::string> command;
};
struct Jail {
    plan::Plan plan;
    host::Facts facts;
    policy::Effective settings;
    std::string state_directory;
    std::string session;  // its id
    session::BrokerOptions broker;
};
using MakeJail = std::function<base::Result<Jail>(const JailRequest&)>;

struct Options {
    std::vector<std::string> asked;       // groups and names; empty: all
    std::string home;                     // home of a test account to plant in; empty: make one
    bool is_through_exec = false;         // the probes inside are commands of `exec`
    std::vector<std::string> candidates;  // parents for the scratch directories, the best first
    // The user's home directory, for a backend that accepts no other one; empty: refuse such a backend.
    std::string users_home;
    // Called with one line for the user if something is planted there.
    std::function<void(std::string_view)> tell;
};

// In the order of all_probes. An error if no jail could be built, or if a signal ended the run.
base::Result<std::vector<Judgement>> run(const Options& options, const MakeJail& make_jail);

}  // namespace selftest
