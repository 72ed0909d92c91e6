// SPDX-License-Identifier: MIT
// One run of a command in a jail, from the plan to the exit code: placeholders, launch, wait, signals,
// clean-up. The jail dies with the supervisor, however it ends. Nothing is left behind when the jail is dead.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/covers.h"
#include "base/result.h"
#include "host/facts.h"
#include "layers/store.h"
#include "network/gateway/control/messages.h"
#include "plan/plan.h"
#include "session/asks/asks.h"
#include "session/control/added_commands.h"
#include "session/control/record.h"
#include "session/control/set_aside.h"
#include "session/control/steering.h"
#include "session/detached/detached_run.h"
#include "session/discarded/discarded.h"
#include "session/early_child.h"
#include "session/guard/git_config_gate.h"
#include "session/helpers/certificates.h"
#include "session/helpers/values.h"
#include "session/search/search_progress.h"
#include "tracer/record.h"

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
    uint64_t refused_settings = 0;      // of git configurations
    MovedRemotes moved_remotes;
    std::vector<backends::Uncovered> uncovered;  // names that were uncovered for a moment
    std::vector<MovedName> moved;                // new protected names, now out of the project
    std::vector<std::string> opened_masks;       // masked files of the project that were opened inside
    std::vector<std::string> refused_programs;   // that wanted namespaces of their own
    std::string_view lost_reports;               // why `uncovered` may be incomplete; empty: it is complete
    SearchProgress::Report search;               // what was found in the project after the start
    size_t ended_commands = 0;                   // of `exec`, that ended with the session
    bool has_used_slurm = false;                 // a Slurm command was called
    Discarded discarded;                         // files of the private home directory
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

// For a plan with credentials or request rules.
struct BrokerOptions {
    std::shared_ptr<Certificates> certificates;  // null: nothing is intercepted
    Values::Fetch fetch;
    Values::Logins logins = {};
    bool records_paths = true;  // of requests
};

struct SessionOptions {
    std::string state_directory;  // $XDG_STATE_HOME/agent-sandbox: placeholder records, records of sessions
    std::string session;          // its id: names the record
    std::string runtime_place;    // for the session's directory (directories.h); empty: no directory
    RecordSettings record;
    std::string version;  // of this program
    std::string job;      // the Slurm job that this runs in; empty: none
    BrokerOptions broker;
    Replan replan;                       // not set: the policy can't change while the session runs
    Jobs jobs;                           // used if the plan opens Slurm
    std::vector<int> namespaces;         // of a job, in which the jail is made (slurm_job.h)
    std::vector<int> socket_namespaces;  // of a job, in which its Unix sockets are made
    std::optional<layers::Layer> layer;  // of a plan that is layered
    // A child that was started before the plan, to become the jail; null: none.
    EarlyChild* early_child = nullptr;
    MayPass may_pass = {};            // a variable of an added command
    DetachedRun* detached = nullptr;  // null: the terminal is the caller's
    AskRules asks = {};               // not set: the jail can't ask its user
    // Called while the jail is built. An error ends the jail before the command runs.
    std::function<base::Status()> confirm = {};
};

base::Result<Ending> run(const plan::Plan& plan, const host::Facts& facts, const SessionOptions& options);

// The program's last call: returns the exit code for main. After Ctrl-C the program kills itself with SIGINT.
// A shell sees the same 130, but also leaves its loop or script.
int exit_code_of(const Ending& ending);

}  // namespace session
