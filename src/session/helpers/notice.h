// SPDX-License-Identifier: MIT
// A notice for the person at the terminal: a bell, and a line of text if the terminal can show one beside its
// screen. The jail's text is untrusted: only plain characters of it reach the terminal.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace session {

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

}  // namespace session
