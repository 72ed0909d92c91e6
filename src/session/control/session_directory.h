// SPDX-License-Identifier: MIT
// A running session as other processes of the user find it:
//
//   lock           held as long as the supervisor lives, however it ends
//   session.json   what is run, where, by which process; written atomically
//   control        a socket that the supervisor answers (control.h)
//   log            a link to the record
//
// Removed with the session. If the supervisor is killed, the keeper removes it, or the next listing of
// sessions.
#pragma once

#include <string>
#include <string_view>

#include "base/encoding/json.h"
#include "base/file.h"

namespace session {

// A Unix socket of the supervisor that is mounted into the jail. It has a name on the host only until the
// jail is built. The mount keeps the socket alive, and no name is left on the host, even if a process is
// killed.

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

// The name of this machine; empty if the kernel does not return it.
std::string host_name();

class SessionDirectory {
  public:
    SessionDirectory() = default;
    ~SessionDirectory() { remove(); }
    SessionDirectory(const SessionDirectory&) = delete;
    SessionDirectory& operator=(const SessionDirectory&) = delete;

    // Makes it below a runtime place. Adds to `metadata` what identifies this process. A session without a
    // directory runs too, but can't be controlled.
    base::Status make(const std::string& place, const std::string& session, const base::Json& metadata,
                      const std::string& record);
    bool is_empty() const { return path_.empty(); }
    const std::string& path() const { return path_; }
    const base::Json& metadata() const { return metadata_; }
    // Changes session.json while the session runs.
    void update(std::string_view key, base::Json value);
    int control() const { return control_.get(); }

    void remove();

  private:
    base::Status fill(const std::string& record);
    base::Status write_metadata() const;

    std::string path_;
    base::Json metadata_;
    base::Fd directory_, lock_;
    NamedSocket control_;
};

// Field 22 of /proc/PID/stat. Together with the pid it identifies a process until the machine reboots. Zero:
// no such process.
uint64_t start_ticks_of(int pid);
// Identifies the current boot of the machine.
std::string boot_id();

}  // namespace session
