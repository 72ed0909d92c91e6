// SPDX-License-Identifier: MIT
// What the jail wants its user to notice: a socket that it can reach, read by the supervisor.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "session/named_socket.h"

namespace session {

class Notices {
  public:
    using Clock = std::chrono::steady_clock;

    Notices() = default;

    // Makes the socket. Without a terminal its name inside is another: the jail's `notify` then says that
    // there is none to ring. Where no socket can be made the command runs all the same.
    void open(const std::string& directory, const std::string& name);
    // On the host; empty: there is none.
    const std::string& path() const { return socket_.path(); }
    bool rings() const { return rings_; }
    void forget_name() { socket_.forget_name(); }

    // To be watched; -1 while it is not to be looked at.
    int events(Clock::time_point now) const;
    // Milliseconds until it is to be looked at again; -1: it is, or never.
    int wait(Clock::time_point now) const;
    // Tells the last of what has come. The result: mailers that were called meanwhile.
    std::vector<std::string> take(Clock::time_point now);
    // The same at the end of a run, whenever the last one was.
    std::vector<std::string> finish();

  private:
    NamedSocket socket_;
    bool rings_ = false;
    Clock::time_point rests_until_;
};

}  // namespace session
