// SPDX-License-Identifier: MIT
// A socket inside the jail, read by the supervisor, for notices to the user.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "session/control/named_socket.h"

namespace session {

class Notices {
  public:
    using Clock = std::chrono::steady_clock;

    Notices() = default;

    // Makes the socket. Without a terminal its name inside differs, so that the jail's `notify` reports that
    // there is no terminal to ring. If the socket can't be made, the command runs without it.
    void open(const std::string& directory, const std::string& name);
    // On the host; empty: not made.
    const std::string& path() const { return socket_.path(); }
    bool rings() const { return rings_; }
    void forget_name() { socket_.forget_name(); }

    // To be polled; -1 while it is not to be read.
    int events(Clock::time_point now) const;
    // Milliseconds until it is to be read again; -1: it is to be read now, or never.
    int wait(Clock::time_point now) const;
    // Shows the last notice that arrived. Returns the mailers that were called meanwhile.
    std::vector<std::string> take(Clock::time_point now);
    // The same at the end of a run, without the pause.
    std::vector<std::string> finish();

  private:
    NamedSocket socket_;
    bool rings_ = false;
    Clock::time_point rests_until_;
};

}  // namespace session
