// SPDX-License-Identifier: MIT
// Theory of operation. After a notice the supervisor does not read the socket for a second. A jail that
// floods it fills the kernel's short queue and then waits itself, at no cost to us. Only the last of the
// queued notices is shown.
#include "session/helpers/notices.h"

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
#include <optional>

#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "session/asks/message.h"

namespace session {

// Theory of operation. Two sequences for a notice are common: OSC 9 (iTerm2 and others) and OSC 777 (rxvt and
// others). A terminal that supports both would show the notice twice, so we choose one. Terminals like xterm
// ignore sequences that they do not support. Others print them, or worse; so a table lists the terminals that
// get a sequence, and the rest get only the bell. Text never comes first in a sequence: after "OSC 9 ;" some
// terminals of Windows interpret a number as a command, and one of these commands runs programs.
//
// tmux and screen drop such sequences unless they are wrapped. The bell needs no wrapping: they mark the
// window with it.

namespace {

constexpr size_t kLongestText = 200;                    // characters
constexpr std::chrono::milliseconds kTerminalWait{50};  // for a terminal that accepts no output
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
        if (base::await_events(terminal.get(), POLLOUT, kTerminalWait) == 0) return false;
    }
    return true;
}

namespace {

constexpr std::chrono::seconds kRest{1};
constexpr int kMostAtOnce = 1024;  // more than the queue holds

constexpr size_t kMostMailers = 16;
constexpr size_t kMostAsks = 16;

struct Gathered {
    std::optional<std::string> notice;  // the last one
    std::vector<std::string> mailers;   // each once
    std::vector<std::pair<std::string, base::Fd>> asks;
};

// Threat: close(2) of a TCP socket with SO_LINGER waits, and a process of the jail may pass one with unsent
// data to the supervisor, which must not wait (tests/session/notices_test.cc).
base::Fd first_of(std::vector<base::Fd> passed) {
    for (const base::Fd& one : passed) {
        const struct linger off = {};
        (void)::setsockopt(one.get(), SOL_SOCKET, SO_LINGER, &off, sizeof off);
    }
    return passed.empty() ? base::Fd() : std::move(passed.front());
}

// Nothing: no message is left.
std::optional<std::pair<std::string, base::Fd>> receive(int socket) {
    std::string text(kLargestAsk + 1, '\0');
    struct iovec place = {text.data(), text.size()};
    alignas(struct cmsghdr) char extra[CMSG_SPACE(base::kMostPassed * sizeof(int))];
    struct msghdr message = {};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    message.msg_control = extra;
    message.msg_controllen = sizeof extra;
    ssize_t got = -1;
    do {
        got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return std::nullopt;
    text.resize(static_cast<size_t>(got));
    return std::pair(std::move(text), first_of(base::passed_descriptors(message)));
}

Gathered gather(int socket) {
    Gathered gathered;
    for (int count = 0; count < kMostAtOnce; ++count) {
        std::optional<std::pair<std::string, base::Fd>> received = receive(socket);
        if (!received) break;
        std::string& text = received->first;
        if (text.starts_with(kAskMark)) {
            if (gathered.asks.size() < kMostAsks) gathered.asks.push_back(*std::move(received));
            continue;
        }
        if (text.size() > kLargestNotice) text.resize(kLargestNotice);
        if (!text.starts_with(kMailMark)) {
            gathered.notice = std::move(text);
            continue;
        }
        text.erase(0, kMailMark.size());
        bool is_new = std::ranges::find(gathered.mailers, text) == gathered.mailers.end();
        if (is_new && gathered.mailers.size() < kMostMailers) gathered.mailers.push_back(std::move(text));
    }
    return gathered;
}

}  // namespace

void Notices::open(const std::string& directory, const std::string& name) {
    rings_ = has_terminal();
    (void)socket_.open(directory, name, SOCK_DGRAM);
}

int Notices::events(Clock::time_point now) const {
    return now < rests_until_ ? -1 : socket_.get();
}

int Notices::wait(Clock::time_point now) const {
    if (!socket_ || now >= rests_until_) return -1;
    return static_cast<int>(
               std::chrono::duration_cast<std::chrono::milliseconds>(rests_until_ - now).count()) +
           1;
}

std::vector<std::string> Notices::take(Clock::time_point now) {
    Gathered gathered = gather(socket_.get());
    if (gathered.notice && rings_) ring_terminal(*gathered.notice);
    if (gathered.notice || !gathered.mailers.empty() || !gathered.asks.empty()) rests_until_ = now + kRest;
    for (auto& [text, client] : gathered.asks) {
        if (on_ask_) on_ask_(text, std::move(client));
    }
    return std::move(gathered.mailers);
}

std::vector<std::string> Notices::finish() {
    if (!socket_) return {};
    on_ask_ = {};
    std::vector<std::string> mailers = take(Clock::now());
    socket_.close();
    return mailers;
}

}  // namespace session
