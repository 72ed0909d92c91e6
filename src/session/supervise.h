// SPDX-License-Identifier: MIT
// Waits for a jail: receives reports of the inner stage, passes signals of the caller on, and does job
// control in both directions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/file.h"
#include "base/process/event_loop.h"
#include "inner/messages.h"
#include "session/control/added_commands.h"
#include "session/control/control.h"
#include "session/control/record.h"
#include "session/detached/detached_run.h"
#include "session/guard/keeper.h"
#include "session/guard/orphans.h"
#include "session/helpers/chaperon.h"
#include "session/helpers/gateway.h"
#include "session/helpers/notices.h"
#include "session/helpers/outside_answers.h"
#include "session/helpers/ssh_agent.h"
#include "session/helpers/values.h"
#include "session/limits/watch.h"
#include "session/terminal.h"

namespace session {

// Everything that was observed about a run; exit_status.h interprets it.
struct Outcome {
    bool may_have_run = false;  // the jail was built
    bool has_started = false;   // the command was executed
    int landlock_abi = 0;       // of the Landlock wall; 0: this kernel has no Landlock
    std::optional<inner::Report> failure;
    std::optional<inner::Report> ending;
    std::string diagnostics;
    std::string gateway_failure;     // the network could not be set up; nothing ran
    std::string_view reached;        // the limit that ended the jail: "limits.memory"
    uint64_t refused_processes = 0;  // because of limits.processes, if the kernel counts them
    uint64_t refused_mails = 0;
    std::vector<std::string> opened_masks;      // masked files of the project that were opened inside
    std::vector<std::string> refused_programs;  // that wanted namespaces of their own
    uint64_t refused_settings = 0;              // of git configurations
    MovedRemotes moved_remotes;
    std::string tracer_failure;  // the jail was ended because its tracer no longer answers its calls
    std::string planted_file;    // the jail was ended because it made this file again and again
    std::string held_file;       // the jail was ended because a process may have kept this file open
    size_t ended_commands = 0;   // of `exec`, that ended with the session
    std::optional<base::Error> guard_failure;  // the keeper could not guard the jail; nothing ran
};

class Supervisor {
  public:
    // The jail's pid 1.
    struct Stage {
        pid_t process = -1;
        int descriptor = -1;  // a pidfd, or minus errno: before Linux 5.3 there are no pidfds
        base::Fd mounts;      // the jail's mount namespace, if the stage sent it
        base::Fd listener;    // of calls that a process outside answers
        base::Fd home;        // the private home directory, if the jail has one
        base::Fd proc;        // the /proc of the jail's pid namespace, if it has one
    };
    // The jail, and what runs or waits beside it.
    struct Parts {
        backends::Launched& launched;
        const HeldSignals& signals;
        const Orphans& orphans;
        Terminal& terminal;
        Watch& watch;
        Gateway& gateway;
        Values& values;
        Notices& notices;
        Chaperon& chaperon;
        SshAgent& ssh_agent;
        Control& control;  // receives the user's requests
        AddedCommands& added;
        Record& record;  // receives what the jail did
        Tracer* tracer;  // null: the plan wants no trace
        Keeper& keeper;
        DetachedRun* detached;  // null: the terminal is the caller's
        std::string session;    // its id
        // Called before any code of the user runs; if it fails, none will run.
        std::function<base::Status(Stage)> on_built;
    };
    explicit Supervisor(Parts parts);
    Supervisor(const Supervisor&) = delete;
    Supervisor& operator=(const Supervisor&) = delete;

    // Returns when the jail is dead.
    Outcome attend();

    // Ends the jail for its user: with SIGTERM first, or at once.
    void stop(bool at_once);
    pid_t stage_process() const { return stage_process_; }

  private:
    void register_sources();
    void take_signal(const struct signalfd_siginfo& information);
    void hear_gateway();
    void hear_tracer();
    void take_keeper_reports();
    void take_last_keeper_reports();
    void start_tracer(base::Fd listener);
    void take_reports();
    using Descriptors = std::vector<base::Fd>;
    void obey(const inner::Report& report, Descriptors descriptors);
    void get_ready(const inner::Report& report, Descriptors descriptors);
    void record_refused_name(const std::string& name);
    void note_refused_program(const std::string& program);
    void give_word();
    void hold_limits();
    void tell_lost_network();
    void go_on_recording();
    void record_mail(const std::vector<std::string>& mailers);
    void lose_stage();
    void end_jail() const;
    void send(const inner::SignalRequest& request);
    void follow_stop(int signal);
    void continue_command();
    void remember_stage(pid_t pid);
    void await_death() const;

    Parts parts_;
    base::EventLoop loop_;
    Outcome outcome_;
    std::string received_;
    base::Fd stage_;
    pid_t stage_process_ = -1;
    bool is_running_ = true;    // the backend's process
    bool is_connected_ = true;  // the stage
    bool is_stage_gone_ = false;
    bool is_guarded_ = false;  // the keeper guards the jail
    bool is_network_ready_;    // the gateway serves, or the jail needs no gateway
    std::optional<Watch::Clock::time_point> network_lost_;  // and the message is not printed yet
    bool wants_terminal_ = false;  // when the caller's job is continued in the foreground
};

}  // namespace session
