// SPDX-License-Identifier: MIT
// Theory of operation. Two sequences for a notice are common: OSC 9 (iTerm2 and others) and OSC 777 (rxvt and
// others). A terminal that supports both would show the notice twice, so we choose one. Terminals like xterm
// ignore sequences that they do not support. Others print them, or worse; so a table lists the terminals that
// get a sequence, and the rest get only the bell. Text never comes first in a sequence: after "OSC 9 ;" some
// terminals of Windows interpret a number as a command, and one of these commands runs programs.
//
// tmux and screen drop such sequences unless they are wrapped. The bell needs no wrapping: they mark the
// window with it.
#include "session/helpers/notice.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/format.h"
#include "base/inside/paths_inside.h"
#include "base/parse.h"
#include "base/text.h"

namespace session {
namespace {

constexpr size_t kLongestText = 200;  // characters
constexpr int kPatience = 50;         // milliseconds, for a terminal that accepts no output
constexpr std::string_view kBell = "\a";
constexpr std::string_view kEscape = "\x1b";

// How TERM begins on terminals that understand the sequences or ignore them.
constexpr std::string_view kCapable[] = {"xterm",   "rxvt",    "foot",    "alacritty", "kitty",
                                         "wezterm", "ghostty", "contour", "konsole",   "vte"};

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

// In the order in which the C library chooses the character set.
bool is_unicode_locale() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        std::string value = base::lower(variable(name));
        if (value.empty()) continue;
        return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
    }
    return false;
}

// A terminal that reads single bytes interprets some bytes of a longer character as control characters.
std::string in_ascii(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        size_t length = std::max<size_t>(base::first_code_point(text).length, 1);
        plain += length == 1 ? text.front() : '?';
        text.remove_prefix(length);
    }
    return plain;
}

std::string doubled_escapes(std::string_view sequence) {
    std::string doubled;
    for (char letter : sequence) {
        if (letter == kEscape.front()) doubled += letter;
        doubled += letter;
    }
    return doubled;
}

// Empty where only the bell is safe.
std::string wrapped(const std::string& sequence, const Screen& screen) {
    const std::string begin = std::string(kEscape) + "P", end = std::string(kEscape) + "\\";
    if (screen.is_in_tmux || screen.kind.starts_with("tmux"))
        return base::format("{}tmux;{}{}", begin, doubled_escapes(sequence), end);
    if (screen.is_in_screen) return begin + sequence + end;
    bool is_capable =
        std::ranges::any_of(kCapable, [&](std::string_view kind) { return screen.kind.starts_with(kind); });
    return is_capable ? sequence : "";
}

// Opens a new file description: O_NONBLOCK on an inherited one would change it for the processes that share
// it.
base::Fd open_terminal() {
    constexpr int kFlags = O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
    base::Fd controlling(::open("/dev/tty", kFlags));
    if (controlling || !::isatty(STDERR_FILENO)) return controlling;
    return base::Fd(::open("/proc/self/fd/2", kFlags));
}

}  // namespace

std::string notice_text(std::string_view untrusted) {
    std::string text;
    size_t characters = 0;
    bool wants_blank = false;
    untrusted = untrusted.substr(0, kLargestNotice);
    while (!untrusted.empty() && characters < kLongestText) {
        size_t length = std::max<size_t>(base::first_code_point(untrusted).length, 1);
        std::string_view character = untrusted.substr(0, length);
        untrusted.remove_prefix(length);
        if (character == " " || base::printable(character) != character) {
            wants_blank = !text.empty();
            continue;
        }
        // A blank is added only together with a character after it.
        if (wants_blank && characters + 1 == kLongestText) break;
        if (wants_blank) {
            text += ' ';
            ++characters;
        }
        wants_blank = false;
        text += character;
        ++characters;
    }
    return text;
}

Screen callers_screen() {
    return {.kind = std::string(variable("TERM")),
            .is_in_tmux = !variable("TMUX").empty(),
            .is_in_screen = !variable("STY").empty(),
            .is_iterm = variable("LC_TERMINAL") == "iTerm2" || variable("TERM_PROGRAM") == "iTerm.app",
            .takes_unicode = is_unicode_locale()};
}

std::string notice_bytes(std::string_view untrusted, const Screen& screen) {
    std::string text = notice_text(untrusted);
    if (text.empty()) return std::string(kBell);
    if (!screen.takes_unicode) text = in_ascii(text);
    std::string sequence = std::string(kEscape) +
                           (screen.is_iterm ? "]9;agent-sandbox: " : "]777;notify;agent-sandbox;") + text +
                           std::string(kBell);
    return wrapped(sequence, screen) + std::string(kBell);
}

// The supervisor reads the socket once in a second. If the queue is full, FullQueue::waits waits for that.
int send_notice(std::string_view text, std::span<const std::string_view> sockets, FullQueue when_full) {
    base::Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    struct timeval patience = {.tv_sec = 3, .tv_usec = 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    int number = ENOENT;
    for (std::string_view name : sockets) {
        struct sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        std::string path = base::own_path(name);
        if (path.size() >= sizeof address.sun_path) continue;
        std::memcpy(address.sun_path, path.data(), path.size());
        if (::sendto(socket.get(), text.data(), text.size(),
                     MSG_NOSIGNAL | (when_full == FullQueue::gives_up ? MSG_DONTWAIT : 0),
                     reinterpret_cast<const struct sockaddr*>(&address), sizeof address) >= 0) {
            return 0;
        }
        number = errno;
        if (number != ENOENT) break;
    }
    return number;
}

bool has_terminal() {
    return static_cast<bool>(open_terminal());
}

bool ring_terminal(std::string_view untrusted) {
    base::Fd terminal = open_terminal();
    if (!terminal) return false;
    const std::string bytes = notice_bytes(untrusted, callers_screen());
    std::string_view rest = bytes;
    while (!rest.empty()) {
        ssize_t written = ::write(terminal.get(), rest.data(), rest.size());
        if (written > 0) {
            rest.remove_prefix(static_cast<size_t>(written));
            continue;
        }
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno != EAGAIN) return false;
        struct pollfd watched = {terminal.get(), POLLOUT, 0};
        if (::poll(&watched, 1, kPatience) <= 0) return false;
    }
    return true;
}

}  // namespace session
