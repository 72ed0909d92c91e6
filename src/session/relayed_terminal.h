// SPDX-License-Identifier: MIT
// A terminal for a command that can't have the caller's own, because that is the controlling terminal of the
// caller's session: a pseudo-terminal whose bytes and size this process relays. Another process may have the
// pseudo-terminal; then its bytes come through a stream. Meanwhile the caller's terminal passes every key on
// (raw mode). However this process ends, the caller's terminal is then as it was before.
#pragma once

#include <sys/ioctl.h>
#include <sys/types.h>
#include <termios.h>

#include <functional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/process/event_loop.h"
#include "base/result.h"
#include "session/terminal.h"

namespace session {

class RelayedTerminal {
  public:
    // `callers` is this process's terminal, which must be given (Terminal::is_given).
    explicit RelayedTerminal(Terminal& callers) : callers_(callers) {}
    ~RelayedTerminal() { finish(); }
    RelayedTerminal(const RelayedTerminal&) = delete;
    RelayedTerminal& operator=(const RelayedTerminal&) = delete;

    // Makes the pseudo-terminal with the settings and the size of the caller's.
    base::Status open();
    // The command's end. Close it when the command has it: the relay ends with the last one.
    base::Fd take_inner() { return std::move(inner_); }

    // In place of open(): a terminal that another process has. The process gets sizes and keys as these
    // functions return and pass them on.
    struct Remote {
        base::Fd stream;
        std::function<void(const struct winsize&)> resize;
        std::function<std::string(std::string_view typed)> filter;
    };
    base::Status join(Remote remote);
    // Whether the remote terminal's screen needs no reset at the end.
    void set_left_in_order(bool is_in_order) { is_remote_in_order_ = is_in_order; }
    // Shows nothing more, not even what has arrived.
    void stop_output() { is_connected_ = false; }

    // The caller's terminal becomes raw, and the loop relays.
    base::Status begin(base::EventLoop& loop);
    void resize() const;
    // Around a stop of the caller's job.
    void pause() const;
    void resume() const;
    // The command has ended: shows its last output and restores the caller's terminal.
    void finish();

  private:
    base::Status start_guard();
    void make_raw() const;
    bool take_output();
    void take_input();
    void put_input();
    bool is_left_in_order() const;
    bool is_remote() const { return static_cast<bool>(remote_.resize); }
    bool takes_keys() const;

    Terminal& callers_;
    base::Fd outer_, inner_;
    Remote remote_;  // its stream is outer_
    bool is_remote_in_order_ = true;
    struct termios settings_ = {};
    std::string typed_;         // and not yet taken by the command's terminal
    bool has_input_ = true;     // the caller's terminal
    bool is_connected_ = true;  // the command's terminal has another end
    bool has_begun_ = false;
    base::Fd life_;  // closed without a byte when this process was killed
    pid_t guard_ = -1;
};

}  // namespace session
