// SPDX-License-Identifier: MIT
// System calls of the command that a process outside the jail answers (doorman/answered_calls.h): the keeper,
// or the tracer of a traced jail. And the process beside the jail that makes its Unix sockets.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "doorman/answered_calls.h"
#include "host/facts.h"
#include "plan/plan.h"

namespace session {

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
    // of a job whose ranks find each other by abstract names (job/job_namespaces.h); empty: make new ones.
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

}  // namespace session
