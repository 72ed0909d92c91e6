// SPDX-License-Identifier: MIT
// A Unix socket of the supervisor that is mounted into the jail. It has a name on the host only until the
// jail is built. The mount keeps the socket alive, and no name is left on the host, even if a process is
// killed.
#pragma once

#include <string>

#include "base/file.h"

namespace session {

class NamedSocket {
  public:
    NamedSocket() = default;
    ~NamedSocket() { forget_name(); }
    NamedSocket(const NamedSocket&) = delete;
    NamedSocket& operator=(const NamedSocket&) = delete;

    // Makes the socket in `place`, and `place` if it is missing. False: it failed.
    bool open(const std::string& place, const std::string& name, int type);
    // On the host; empty: not opened, or the name is removed.
    const std::string& path() const { return path_; }
    void forget_name();

    int get() const { return socket_.get(); }
    explicit operator bool() const { return static_cast<bool>(socket_); }
    base::Fd take() { return std::move(socket_); }
    void close() { socket_.reset(); }

  private:
    std::string path_;
    std::string name_;
    base::Fd directory_;
    base::Fd socket_;
};

// Removes sockets in `place` of sessions that were killed while they were starting.
void remove_left_sockets(const std::string& place);

}  // namespace session
