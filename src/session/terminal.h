// SPDX-License-Identifier: MIT
// The caller's controlling terminal and who is in its foreground. The command has a process group of its own
// (inner/stage.cc says why), so the foreground is given to it and taken back as a job-control shell does.
#pragma once

#include "base/file.h"

namespace session {

class Terminal {
  public:
    // Opens it, where there is one, and gives it away at once when the caller's job has both its input and
    // its output there. In a pipeline another process of the job may be the one that reads (a pager); the
    // command then gets the terminal when it first asks for it.
    Terminal();

    int descriptor() const { return fd_.get(); }
    explicit operator bool() const { return static_cast<bool>(fd_); }

    bool is_given() const { return is_given_; }
    // Whether the caller's job is in the foreground.
    bool is_ours() const;
    void give() { is_given_ = true; }
    // Makes the caller's job the foreground again, if it had been given away.
    void take_back();

  private:
    base::Fd fd_;
    bool is_given_ = false;
};

}  // namespace session
