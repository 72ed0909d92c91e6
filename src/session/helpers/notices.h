// SPDX-License-Identifier: MIT
// A socket inside the jail, read by the supervisor, for notices to the user.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "session/control/session_directory.h"

namespace session {

// A notice for the person at the terminal: a bell, and a line of text if the terminal can show one beside its
// screen. The jail's text is untrusted: only plain characters of it reach the terminal.

inline constexpr size_t kLargestNotice = 512;  // bytes; a longer one is truncated
// A message that begins with it is not a notice, but the name of a mailer that was called.
inline constexpr std::string_view kMailMark = "\x01mail ";

// Called inside a jail: sends to its supervisor through the first of these sockets that exists. Zero or an
// errno.
enum class FullQueue { waits, gives_up };
int send_notice(std::string_view text, std::span<const std::string_view> sockets, FullQueue when_full);

// At most 200 characters in one line. Other characters than plain text become a blank.
std::string notice_text(std::string_view untrusted);

// Variables of the caller that determine which sequences its terminal supports.
struct Screen {
    std::string kind;            // TERM
    bool is_in_tmux = false;     // TMUX
    bool is_in_screen = false;   // STY
    bool is_iterm = false;       // LC_TERMINAL, TERM_PROGRAM
    bool takes_unicode = false;  // the locale's character set
};
Screen callers_screen();

// The bytes to write: always a bell; the text only if the terminal is known to support or to ignore it.
std::string notice_bytes(std::string_view untrusted, const Screen& screen);

// Whether there is a terminal: the controlling one, else standard error.
bool has_terminal();
// Rings it. Waits at most a moment if output is stopped (Ctrl-S).
bool ring_terminal(std::string_view untrusted);

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
    // Called for each question of the jail (session/asks/message.h), with its text and the first
    // descriptor that came with it. Not set: questions are dropped.
    using OnAsk = std::function<void(std::string_view message, base::Fd client)>;
    void when_asked(OnAsk act) { on_ask_ = std::move(act); }

    // Shows the last notice that arrived. Returns the mailers that were called meanwhile.
    std::vector<std::string> take(Clock::time_point now);
    // The same at the end of a run, without the pause.
    std::vector<std::string> finish();

  private:
    NamedSocket socket_;
    bool rings_ = false;
    OnAsk on_ask_;
    Clock::time_point rests_until_;
};

}  // namespace session
