// SPDX-License-Identifier: MIT
// A command that this process adds to a running session, for a loop that serves several of them: `exec` waits
// for one (exec_client.h). When this object is destroyed, the session ends the command.
#pragma once

#include <array>
#include <optional>

#include "base/file.h"
#include "base/result.h"
#include "session/control/exec_client.h"
#include "session/control/known_sessions.h"

namespace session {

class AddedProcess {
  public:
    // The descriptors become 0, 1 and 2 of the command: pipes, sockets or /dev/null.
    static base::Result<AddedProcess> start(const Known& known, const AddedCall& call,
                                            std::array<base::Fd, 3> standard);

    // Readable when hear() has a message to read. -1: the command has ended.
    int descriptor() const { return is_over() ? -1 : connection_.get(); }
    void hear();

    bool is_over() const { return ending_ || failure_; }
    const std::optional<AddedEnding>& ending() const { return ending_; }
    const std::optional<base::Error>& failure() const { return failure_; }

    // To the command and its process group.
    void send_signal(int signal) const;

  private:
    AddedProcess(const Known& known, base::Fd connection)
        : known_(&known), connection_(std::move(connection)) {}

    const Known* known_;
    base::Fd connection_;
    bool has_started_ = false;
    std::optional<AddedEnding> ending_;
    std::optional<base::Error> failure_;
};

}  // namespace session
