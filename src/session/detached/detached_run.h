// SPDX-License-Identifier: MIT
// `--detach`: three processes come from the one that the user started. The caller waits until the command
// runs, and exits. The holder keeps the terminal (holder.h). The third becomes the supervisor: the leader of
// a session of its own, whose controlling terminal is the holder's pseudo-terminal. So the supervisor treats
// that terminal as it treats its caller's in any other run.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace session {

class DetachedRun {
  public:
    // Returns in the caller, when the command runs or the session has ended, and in the supervisor.
    struct Forked;
    static base::Result<Forked> fork();

    // ---- In the supervisor

    // Messages go to the session's terminal from now on, or to the caller again, because nothing ran.
    void use_own_terminal();
    void use_callers_terminal();
    // The command runs. False: the caller has gone.
    bool report_started(std::string_view session);
    // Where the holder receives clients.
    int holder() const { return holder_.get(); }

  private:
    base::Fd holder_, caller_, inner_;
    base::Fd callers_error_;  // the caller's standard error, until the command runs
};

struct DetachedRun::Forked {
    std::optional<DetachedRun> supervisor;  // empty: this process is the caller
    std::string session;                    // the id of the session that runs; empty: it has ended
    int exit_code = 0;                      // of a session that has ended
};

}  // namespace session
