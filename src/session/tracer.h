// SPDX-License-Identifier: MIT
// The tracer as the supervisor sees it: a process beside the jail that is started when the jail sends the
// listener of its filter, before anything of the user's has run, and ends with the session. It is a fork of
// this one: the plan that it explains by is the one in memory.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/file.h"
#include "base/result.h"
#include "plan/plan.h"
#include "session/record.h"
#include "tracer/messages.h"

namespace session {

class Tracer {
  public:
    // Nothing is made yet; both must outlive it.
    Tracer(const plan::Plan& plan, const Record& record) : plan_(plan), record_(record) {}
    ~Tracer();
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;

    base::Status start(base::Fd listener);
    pid_t process() const { return process_; }  // -1: there is none

    // Readable when there is news; -1 where there is none to come.
    int events() const { return control_.get(); }
    // lost: it can't go on, or was ended from outside. Every call that it was to answer waits for ever.
    enum class News { none, lost, journal_full };
    News take();
    const std::string& failure() const { return failure_; }
    void pass_journal(base::Fd part) const;

    // The command has ended; what else runs in the jail is ended now.
    void say_over() const;
    // Its last word, if it is still there to say it. The jail is dead.
    tracer::Summary finish();

  private:
    void end();

    const plan::Plan& plan_;
    const Record& record_;
    pid_t process_ = -1;
    base::Fd control_;
    // Kept open here, so that the calls of a jail whose tracer is gone wait until the jail is ended, and
    // never get the kernel's answer to questions that nobody can hear (ENOSYS).
    base::Fd listener_;
    std::string failure_;
};

}  // namespace session
