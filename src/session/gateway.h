// SPDX-License-Identifier: MIT
// The network's gateway as the supervisor sees it: a process beside the jail that is started while the jail
// is built, says when it serves, and ends with the session. It is a fork of this one, so that it needs no
// program and no settings file; what it must not know it forgets (see start).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "network/gateway/messages.h"
#include "network/rules/egress.h"

namespace session {

class Gateway {
  public:
    Gateway() = default;
    ~Gateway();
    Gateway(const Gateway&) = delete;
    Gateway& operator=(const Gateway&) = delete;

    // Where the jail's traffic comes from.
    struct Source {
        base::Fd information;  // Launched::information: a network namespace that is to be set up
        base::Fd listeners;    // or one that the jail sets up itself: what it hands out
        base::Fd handed;       // or connections that the jail's doorman hands over one by one
    };
    // The journal is a file that is made, and removed at the end if nothing was written to it.
    base::Status start(const network::Egress& egress, Source source, const std::string& journal);
    pid_t process() const { return process_; }  // -1: there is none

    // Readable when there is news; -1 where there is none to come.
    int events() const { return is_asked_ ? -1 : control_.get(); }
    enum class News { none, serves, failed, lost };
    News take();
    // After `failed`: why.
    const std::string& failure() const { return failure_; }

    // The command has ended: the gateway is asked for its last word, which it thinks about while the jail is
    // taken apart. Nothing that is left in there is served any more.
    void ask_to_end();
    // That word, if the gateway is still there to say it. The jail is dead.
    network::gateway::Summary finish();
    bool was_lost() const { return was_lost_; }

  private:
    void pass_files() const;
    network::gateway::Summary hear_last_word() const;
    void end();

    pid_t process_ = -1;
    base::Fd control_;
    bool is_serving_ = false;
    bool is_asked_ = false;
    bool was_lost_ = false;
    std::string failure_;
    std::string journal_;
};

}  // namespace session
