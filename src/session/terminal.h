// SPDX-License-Identifier: MIT
// What the supervisor takes over from its caller while a command runs: signals, and the controlling
// terminal.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <memory>

#include "base/file.h"
#include "inner/command/process_state.h"

namespace session {

// Blocks the signals that would end or stop the supervisor, and makes them readable as events instead. The
// destructor restores the caller's state.

class HeldSignals {
  public:
    HeldSignals();
    ~HeldSignals();
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

    const inner::SignalState& before() const { return before_; }
    int events() const { return events_.get(); }

  private:
    inner::SignalState before_;
    base::Fd events_;
};

// For a client that relays a terminal: stops this process's job with the signal that a terminal would send.
// Returns when it is continued.
void stop_callers_job();

// The caller's controlling terminal: its foreground group and its settings. The command has its own process
// group (inner/stage.cc gives the reason), so the foreground is given to it and taken back as a job-control
// shell does. However the command ends, the terminal is then as it was before.

class Terminal {
  public:
    // Opens the terminal, if there is one. Gives it away at once if the caller's job has both its input and
    // its output there. In a pipeline another process of the job may read it (a pager); the command then gets
    // the terminal when it first reads it.
    Terminal();

    int descriptor() const { return fd_.get(); }
    explicit operator bool() const { return static_cast<bool>(fd_); }

    bool is_given() const { return loan_ && loan_->is_given; }
    // Whether the caller's job is in the foreground.
    bool is_ours() const;
    void give();
    // Makes the caller's job the foreground again, if the terminal was given away.
    void take_back();

    // At the end of a run: takes the terminal back and restores its settings. If a full-screen program was
    // killed, it could not restore the screen; then the screen is reset as well.
    void recover();
    // The same for a supervisor that was killed, called by a process of its session that outlived it.
    void recover_for_the_dead();

  private:
    // Shared with forked processes, so that the keeper always has the supervisor's last state.
    struct Loan {
        bool is_given;
        pid_t lender;  // the caller's process group
        struct termios settings;
        char device[64];  // its path; empty: unknown
        dev_t number;
        mode_t mode;  // its permissions
    };
    struct Unmap {
        void operator()(Loan* loan) const;
    };

    bool is_raw() const;
    bool is_abandoned() const;
    void start_output() const;
    void restore_settings() const;
    void note_mode();
    void restore_mode() const;
    void reset_screen(bool someone_else_reads) const;

    base::Fd fd_;
    std::unique_ptr<Loan, Unmap> loan_;
    bool draws_on_it_ = false;  // the command's standard output is this terminal, and it is not a dumb one
};

}  // namespace session
