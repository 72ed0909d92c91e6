// SPDX-License-Identifier: MIT
// The tracer as the supervisor sees it: a process beside the jail. It is started when the jail sends the
// listener of its filter, before any code of the user has run, and ends with the session. It is a fork of
// this process, so it uses the plan in memory.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/file.h"
#include "base/result.h"
#include "doorman/answered_calls.h"
#include "plan/plan.h"
#include "session/control/record.h"
#include "tracer/messages.h"

namespace session {

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
