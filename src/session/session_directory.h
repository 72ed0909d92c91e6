// SPDX-License-Identifier: MIT
// A running session as other processes of the user find it:
//
//   lock           held for as long as the supervisor lives, whatever ends it
//   session.json   what is run, where, by which process; written whole
//   control        a socket that the supervisor answers (control.h)
//   log            a link to the record
//
// Gone with the session. One whose supervisor was killed is removed by the keeper, or by whoever looks next.
#pragma once

#include <string>

#include "base/file.h"
#include "base/json.h"
#include "session/named_socket.h"

namespace session {

class SessionDirectory {
  public:
    SessionDirectory() = default;
    ~SessionDirectory() { remove(); }
    SessionDirectory(const SessionDirectory&) = delete;
    SessionDirectory& operator=(const SessionDirectory&) = delete;

    // Below a runtime place. `metadata` is completed with what identifies this process. A session that can't
    // have a directory runs all the same; nobody can steer it.
    base::Status make(const std::string& place, const std::string& session, const base::Json& metadata,
                      const std::string& record);
    bool is_empty() const { return path_.empty(); }
    const std::string& path() const { return path_; }
    const base::Json& metadata() const { return metadata_; }
    int control() const { return control_.get(); }

    void remove();

  private:
    base::Status fill(const std::string& record);

    std::string path_;
    base::Json metadata_;
    base::Fd directory_, lock_;
    NamedSocket control_;
};

// Field 22 of /proc/PID/stat: with the number it names a process for as long as the machine is up. Zero:
// there is no such process.
uint64_t start_ticks_of(int pid);
// Of this start of the machine.
std::string boot_id();

}  // namespace session
