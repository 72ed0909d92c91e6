// SPDX-License-Identifier: MIT
// A notice for the person at the terminal: a bell, and a line of text where the terminal can show one beside
// its screen. What a jail says is a stranger's text: nothing of it but plain characters reaches the terminal.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace session {

inline constexpr size_t kLargestNotice = 512;  // bytes; the rest of a longer one is cut off
// What begins with it is no notice, but the name of a mailer that was called.
inline constexpr std::string_view kMailMark = "\x01mail ";

// Inside a jail: to its supervisor, by the first of these sockets that is there. Zero or an errno.
enum class FullQueue { waits, gives_up };
int send_notice(std::string_view text, std::span<const std::string_view> sockets, FullQueue when_full);

// At most 200 characters in one line. Whatever is not plain text becomes a blank.
std::string notice_text(std::string_view untrusted);

// What of the caller's environment says how its terminal is spoken to.
struct Screen {
    std::string kind;            // TERM
    bool is_in_tmux = false;     // TMUX
    bool is_in_screen = false;   // STY
    bool is_iterm = false;       // LC_TERMINAL, TERM_PROGRAM
    bool takes_unicode = false;  // the locale's character set
};
Screen callers_screen();

// The bytes to write: always a bell; the text only where the terminal is known to understand or to ignore it.
std::string notice_bytes(std::string_view untrusted, const Screen& screen);

// Whether there is a terminal: the controlling one, else the standard error.
bool has_terminal();
// Rings it. Never waits for one that is held (Ctrl-S) for longer than a moment.
bool ring_terminal(std::string_view untrusted);

}  // namespace session
