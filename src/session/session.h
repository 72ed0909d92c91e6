// SPDX-License-Identifier: MIT
// One run of a command in a jail, from the plan to the exit code: placeholders, launch, wait, signals,
// clean-up. The jail dies with the supervisor, however it ends. Nothing is left behind when the jail is dead.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cover_again.h"
#include "base/result.h"
#include "host/facts.h"
#include "network/gateway/control/messages.h"
#include "plan/plan.h"
#include "session/control/live_rules.h"
#include "session/control/record.h"
#include "session/search/search_progress.h"
#include "tracer/messages.h"

namespace session {

// The exit code of a command that signal n ended is this plus n.
inline constexpr int kSignalBase = 128;

// How a run ended. "The jail could not be built", "the command could not be started" and "the command failed"
// are never confused: the first two are Errors with their exit codes, this is the third.
struct Ending {
    int exit_code = 0;  // the command's; 128 + n after signal n; 124 after a time limit
    bool by_signal = false;
    bool by_limit = false;              // a limit stopped or hindered it: reported even in quiet mode
    std::string reason;                 // for a person; empty after a plain exit
    int landlock_abi = 0;               // of the Landlock wall; 0: not used
    network::gateway::Summary network;  // what the gateway refused
    tracer::Summary trace;              // what was seen of files, commands and system calls
    bool has_lost_network = false;      // the gateway was killed: the jail had no network from then on
    uint64_t refused_mails = 0;         // calls of a mailer
    std::vector<backends::Uncovered> uncovered;  // names that were uncovered for a moment
    std::string_view lost_reports;               // why `uncovered` may be incomplete; empty: it is complete
    SearchProgress::Report search;               // what was found in the project after the start
    bool has_used_slurm = false;                 // a Slurm command was called
    std::string record;                          // the file; empty: nothing was recorded
    std::string unrecorded;                      // why not, if a record was wanted
    uint64_t lost_lines = 0;                     // lines that could not be written
    audit::Head head;                            // of the record's chain
};

inline constexpr std::string_view kLostNetwork =
    "the network's gateway was ended from outside: the jail has no network from here on";

// What the Slurm jobs of this run get.
struct Jobs {
    std::string session;                   // 32 hexadecimal digits, inherited by jobs of jobs
    std::vector<std::string> options;      // of this program
    std::vector<std::string> variables;    // its settings
    std::vector<std::string> environment;  // of Slurm's own commands
};

struct SessionOptions {
    std::string state_directory;  // $XDG_STATE_HOME/agent-sandbox: placeholder records, records of sessions
    std::string session;          // its id: names the record
    std::string runtime_place;    // for the session's directory (runtime_directory.h); empty: no directory
    RecordSettings record;
    std::string version;                 // of this program
    std::string job;                     // the Slurm job that this runs in; empty: none
    Replan replan;                       // not set: the policy can't change while the session runs
    Jobs jobs;                           // used if the plan opens Slurm
    std::vector<int> namespaces;         // of a job, in which the jail is made (job_namespaces.h)
    std::vector<int> socket_namespaces;  // of a job, in which its Unix sockets are made
};

base::Result<Ending> run(const plan::Plan& plan, const host::Facts& facts, const SessionOptions& options);

// The program's last call: returns the exit code for main. After Ctrl-C the program kills itself with SIGINT.
// A shell sees the same 130, but also leaves its loop or script.
int exit_code_of(const Ending& ending);

}  // namespace session
