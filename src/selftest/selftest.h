// SPDX-License-Identifier: MIT
// The self-test: plants a world, runs every probe outside as its control and inside a real jail, looks at
// what stayed behind, and judges. Nothing of the user's own is read or changed, and nothing of what was made
// stays, whatever ends the run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"
#include "host/facts.h"
#include "plan/plan.h"
#include "policy/merge.h"
#include "selftest/verdict.h"

namespace selftest {

// A jail to plan, by the ordinary way from settings to plan.
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
};
using MakeJail = std::function<base::Result<Jail>(const JailRequest&)>;

struct Options {
    std::vector<std::string> asked;       // groups and names; none: all
    std::string home;                     // of an account made for a test, to plant in; empty: one is made
    std::vector<std::string> candidates;  // directories to make the scratch directories in, the best first
};

// In the order of all_probes. An error when no jail could be built at all, or when a signal ended the run.
base::Result<std::vector<Judgement>> run(const Options& options, const MakeJail& make_jail);

}  // namespace selftest
