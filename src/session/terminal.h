// SPDX-License-Identifier: MIT
// The caller's controlling terminal: who is in its foreground, and how it was set. The command has a process
// group of its own (inner/stage.cc says why), so the foreground is given to it and taken back as a
// job-control shell does. However the command ends, the terminal is then as it was when it was given away.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <memory>

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

    bool is_given() const { return loan_ && loan_->is_given; }
    // Whether the caller's job is in the foreground.
    bool is_ours() const;
    void give();
    // Makes the caller's job the foreground again, if it had been given away.
    void take_back();

    // At the end of a run: takes it back and sets it as it was. A program that was ended while it drew the
    // whole screen could not undo that either; then the screen is set right as well.
    void recover();
    // The same for a supervisor that was killed, by a process of its session that has outlived it.
    void recover_for_the_dead();

  private:
    // Shared with forked processes, so that the keeper knows at any time what the supervisor knew last.
    struct Loan {
        bool is_given;
        pid_t lender;  // the caller's process group
        struct termios settings;
        char device[64];  // its name, empty where it has none
        dev_t number;
        mode_t mode;  // who may read and write it
    };
    struct Unmap {
        void operator()(Loan* loan) const;
    };

    bool is_raw() const;
    bool is_abandoned() const;
    void restore_settings() const;
    void note_mode();
    void restore_mode() const;
    void reset_screen(bool someone_else_reads) const;

    base::Fd fd_;
    std::unique_ptr<Loan, Unmap> loan_;
    bool draws_on_it_ = false;  // the command's standard output is this terminal, and it is no dumb one
};

}  // namespace session
