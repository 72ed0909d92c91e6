// SPDX-License-Identifier: MIT
// Runs the walker in a jail of one backend with a random plan. The program is also the inner stage.
//
//   plan_program SEED BACKEND STATE SCRATCH WALKER [altered]
#include <sys/prctl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/process/own_process.h"
#include "differential/random_plan.h"
#include "inner/stage.h"
#include "session/session.h"

int main(int argc, char** argv) {
    base::remember_arguments(argc, argv);
    // The same process name as when bubblewrap executes it.
    ::prctl(PR_SET_NAME, "agent-sandbox");
    if (argc > 1 && argv[1] == inner::kRole) return inner::run_stage(argc, argv);
    if (argc < 6) return 2;
    bool is_altered = argc > 6 && std::strcmp(argv[6], "altered") == 0;
    plan::Plan plan =
        differential::random_plan(std::strtoull(argv[1], nullptr, 10), argv[4], argv[5], is_altered);
    plan.backend = base::parse_backend(argv[2]).value();
    host::Facts facts;
    facts.bwrap.path = base::Path::known("/usr/bin/bwrap");
    base::Result<session::Ending> ending = session::run(plan, facts, {.state_directory = argv[3]});
    if (ending) return session::exit_code_of(*ending);
    std::fprintf(stderr, "agent-sandbox: %s\n", ending.error().line().c_str());
    return static_cast<int>(ending.error().exit_code);
}
