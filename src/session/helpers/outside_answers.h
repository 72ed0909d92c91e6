// SPDX-License-Identifier: MIT
// Processes beside the jail that receive its system calls: the process that answers them, and the tracer.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "doorman/answered_calls.h"
#include "host/facts.h"
#include "plan/plan.h"
#include "session/control/record.h"
#include "tracer/record.h"

namespace session {

// System calls of the command that a process outside the jail answers (doorman/answered_calls.h): the keeper,
// or the tracer of a traced jail. And the process beside the jail that makes its Unix sockets.

// An answer about a terminal takes a descriptor of the caller. A filter around this process may refuse that.
bool can_take_descriptors();

// What the process outside answers. is_wanted is false if the stage answers, or no process can.
doorman::AnsweredCalls outside_answers(const plan::Plan& plan, const host::Facts& facts, bool has_terminal);

// Call it when the jail is built. Prints a message if abstract sockets are shared although the plan keeps
// them inside: another program has the listener of this process tree, or a filter refuses a call.
void tell_shared_sockets(const plan::Plan& plan, const doorman::AnsweredCalls& answers, bool has_listener);

class SocketFactory {
  public:
    SocketFactory() = default;
    ~SocketFactory();
    SocketFactory(const SocketFactory&) = delete;
    SocketFactory& operator=(const SocketFactory&) = delete;

    // Starts the process if `answers` needs it, and sets answers.socket_factory. `spaces` are the namespaces
    // of a job whose ranks find each other by abstract names (session/slurm_job.h); empty: make new ones.
    base::Status start(doorman::AnsweredCalls& answers, const std::vector<int>& spaces);
    // Waits until it is ready; returns at once if it was not started.
    base::Status await() const;
    pid_t process() const { return process_; }  // -1: not running
    // Call it at the end of a session. Prints a message if the factory, or the keeper that asks it, was
    // killed.
    void tell_if_lost(bool is_keeper_lost);

  private:
    pid_t process_ = -1;
    base::Fd channel_;
};

// The tracer as the supervisor sees it: a process beside the jail. It is started when the jail sends the
// listener of its filter, before any code of the user has run, and ends with the session. It is a fork of
// this process, so it uses the plan in memory.

class Tracer {
  public:
    // Starts nothing yet. All arguments must outlive it. `answers`: calls that it executes or refuses itself.
    Tracer(const plan::Plan& plan, const Record& record, const doorman::AnsweredCalls& answers)
        : plan_(plan), record_(record), answers_(answers) {}
    ~Tracer();
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;

    base::Status start(base::Fd listener);
    pid_t process() const { return process_; }  // -1: not running

    // Readable when there is news; -1: no news will come.
    int events() const { return control_.get(); }
    // lost: it failed, or was killed from outside. Every call that it had to answer waits for ever.
    enum class News { none, lost, journal_full };
    News take();
    const std::string& failure() const { return failure_; }
    void pass_journal(base::Fd part) const;

    // The command has ended; the other processes of the jail are being killed.
    void say_over() const;
    // Returns its summary, if it still runs. The jail is dead.
    tracer::Summary finish();

  private:
    void end();

    const plan::Plan& plan_;
    const Record& record_;
    const doorman::AnsweredCalls& answers_;
    pid_t process_ = -1;
    base::Fd control_;
    // Kept open here: if the tracer dies, the jail's calls wait until the jail is killed. Without an open
    // listener the kernel would answer them with ENOSYS.
    base::Fd listener_;
    std::string failure_;
};

}  // namespace session
