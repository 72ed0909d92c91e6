// SPDX-License-Identifier: MIT
// One run of a command in a jail, from the plan to the exit code: placeholders, launch, wait, signals,
// clean-up. Whatever ends the supervisor ends the jail; whatever ends the jail leaves nothing behind.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cover_again.h"
#include "base/result.h"
#include "host/facts.h"
#include "network/gateway/messages.h"
#include "plan/plan.h"
#include "session/live_rules.h"
#include "session/record.h"
#include "session/search_progress.h"
#include "tracer/messages.h"

namespace session {

// How a run ended: "the jail could not be built", "the command could not be started" and "the command failed"
// are never confused. The first two are Errors with their exit codes; this is the third.
struct Ending {
    int exit_code = 0;  // the command's; 128 + n after signal n; 124 when its time was over
    bool by_signal = false;
    bool by_limit = false;  // a limit stopped it, or was in its way: told even where quiet is wanted
    std::string reason;     // for a person; empty after a plain exit
    int landlock_abi = 0;   // that the second wall used; 0: there was none
    network::gateway::Summary network;  // what was refused there
    tracer::Summary trace;              // what was seen of files, commands and system calls
    bool has_lost_network = false;      // the gateway was killed: from then on nothing could be reached
    uint64_t refused_mails = 0;         // calls of a mailer
    std::vector<backends::Uncovered> uncovered;  // what was replaced outside, and open for a moment
    SearchProgress::Report search;               // what was found in the project after the start
    bool has_used_slurm = false;                 // something was asked of Slurm
    std::string record;                          // the file; empty: nothing was recorded
    std::string unrecorded;                      // why, where it should have been
    uint64_t lost_lines = 0;                     // that could not be written
    audit::Head head;                            // of the record's chain
};

inline constexpr std::string_view kLostNetwork =
    "the network's gateway was ended from outside: the jail has no network from here on";

// What Slurm jobs of this run are given.
struct Jobs {
    std::string session;                   // 32 hexadecimal digits, the same for jobs of jobs
    std::vector<std::string> options;      // of this program
    std::vector<std::string> variables;    // its settings
    std::vector<std::string> environment;  // of Slurm's own commands
};

struct Surroundings {
    std::string state_directory;  // $XDG_STATE_HOME/agent-sandbox: placeholder records, records of sessions
    std::string session;          // its id: names the record
    std::string runtime_place;    // for the session's directory (runtime_place.h); empty: it has none
    RecordSettings record;
    std::string version;          // of this program
    std::string job;              // of Slurm's, where this is one
    Replan replan;                // none: the policy stays as it is
    Jobs jobs;                    // where the plan opens Slurm
    std::vector<int> namespaces;  // of a job, that the jail is made in (job_namespaces.h)
};

base::Result<Ending> run(const plan::Plan& plan, const host::Facts& facts, const Surroundings& surroundings);

// The program's last act: the exit code to return from main. After Ctrl-C the program dies of SIGINT itself,
// which a shell sees as the same 130 but also as the wish to leave its loop or script.
int exit_code_of(const Ending& ending);

}  // namespace session
