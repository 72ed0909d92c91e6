// SPDX-License-Identifier: MIT
// Regular files at the caller's descriptors 0, 1 and 2. The command gets a pipe in place of each, and a relay
// process outside of the jail copies the bytes.
//
// Threat: a descriptor of a file gives more rights than its own mode. With it a process can change mode,
// owner, times and length of the file, and can open it again through /proc/self/fd with another mode: read
// the earlier content of a log, or write to a file that was given for reading. No mount of the jail applies
// to it, and a seccomp filter can't distinguish it from other descriptors (tests/jail/standard_files.bats).
#pragma once

#include <sys/types.h>

#include <array>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace session {

class StandardFiles {
  public:
    // Puts a pipe in place of each of 0, 1 and 2 that is a regular file, until give_back().
    base::Status replace();
    // The jail has inherited the pipes: 0, 1 and 2 are the caller's files again, and the relay starts.
    base::Status give_back();
    // The jail is dead. Waits until all its output is in the files, and sets the offset of an input to the
    // first byte that the command has not read. An error: something could not be written. `left`: the command
    // has ended, and processes that it left may still have the pipes; what they write later is lost.
    enum class Left { nothing, processes };
    base::Status finish(Left left = Left::nothing);

    pid_t relay() const { return relay_; }  // -1: not running

    StandardFiles() = default;
    ~StandardFiles();
    StandardFiles(const StandardFiles&) = delete;
    StandardFiles& operator=(const StandardFiles&) = delete;

  private:
    struct Stream {
        base::Fd file;   // the caller's
        base::Fd pipe;   // the relay's end
        base::Fd jails;  // an input's other end, open here to count unread bytes
        bool is_input = false;
        int same_as = -1;  // an earlier number with the same file: they share a pipe
        bool is_replaced = false;
    };

    base::Status replace_one(int number);
    void restore();
    [[noreturn]] void run_relay(int over);

    std::array<Stream, 3> streams_;
    base::Fd life_;  // a pipe; the relay's end is readable when the jail or this process is dead
    pid_t relay_ = -1;
};

}  // namespace session
