// SPDX-License-Identifier: MIT
// Theory of operation. Signals that end the program, and SIGWINCH, are blocked except while it waits for
// keys. A handler only marks them, and none is lost between a check and the wait. Keys raise no signals
// meanwhile; Ctrl-C arrives as a key.
#include "monitor/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/file.h"
#include "base/process/descriptors.h"

namespace monitor {
namespace {

// The alternate screen, no cursor, and no wrapping: a character that the terminal counts wider than we do
// must not move the rest.
constexpr std::string_view kTakeOver = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr std::string_view kGiveBack = "\x1b[?7h\x1b[?25h\x1b[?1049l";

constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM};

volatile sig_atomic_t marked_signal = 0;

void mark(int signal) {
    if (signal != SIGWINCH) marked_signal = signal;
}

sigset_t held_signals() {
    sigset_t held;
    ::sigemptyset(&held);
    for (int signal : kEndingSignals) ::sigaddset(&held, signal);
    ::sigaddset(&held, SIGWINCH);
    return held;
}

void set_handlers(void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    ::sigemptyset(&action.sa_mask);
    for (int signal : kEndingSignals) ::sigaction(signal, &action, nullptr);
    ::sigaction(SIGWINCH, &action, nullptr);
}

}  // namespace

Size size_of_terminal(int descriptor) {
    struct winsize window = {};
    Size size;
    if (::ioctl(descriptor, TIOCGWINSZ, &window) != 0) return size;
    if (window.ws_col > 0) size.width = window.ws_col;
    if (window.ws_row > 0) size.height = window.ws_row;
    return size;
}

base::Status Terminal::take_over(int input, int output) {
    if (::tcgetattr(input, &before_) != 0) return base::system_error("read the terminal's settings", errno);
    sigset_t held = held_signals();
    ::sigprocmask(SIG_BLOCK, &held, &mask_before_);
    set_handlers(mark);
    struct termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
    raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    input_ = input;
    output_ = output;
    if (::tcsetattr(input, TCSADRAIN, &raw) != 0) {
        base::Error error = base::system_error("set the terminal up", errno);
        give_back();
        return error;
    }
    write(kTakeOver);
    return base::success();
}

void Terminal::give_back() {
    if (output_ < 0) return;
    write(kGiveBack);
    ::tcsetattr(input_, TCSADRAIN, &before_);
    set_handlers(SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    input_ = output_ = -1;
}

void Terminal::write(std::string_view text) const {
    // If the terminal is gone, the next read shows it.
    static_cast<void>(base::write_all(output_, text).ok());
}

std::string Terminal::read_keys(std::chrono::milliseconds patience) {
    if (base::await_events(input_, POLLIN, patience, mask_before_) == 0) return {};
    char bytes[256];
    ssize_t got = ::read(input_, bytes, sizeof bytes);
    if (got > 0) return {bytes, static_cast<size_t>(got)};
    if (got == 0 || (errno != EINTR && errno != EAGAIN)) is_gone_ = true;
    return {};
}

int Terminal::ending_signal() const {
    return marked_signal != 0 ? static_cast<int>(marked_signal) : (is_gone_ ? SIGHUP : 0);
}

namespace {

struct Spelling {
    std::string_view bytes;
    Key key;
};
constexpr Spelling kSpellings[] = {
    {"\x1b[A", Key::up},   {"\x1bOA", Key::up}, {"k", Key::up},      {"\x1b[B", Key::down},
    {"\x1bOB", Key::down}, {"j", Key::down},    {"a", Key::approve}, {"d", Key::deny},
    {"s", Key::stop},      {"?", Key::help},    {"q", Key::quit},    {"\x03", Key::quit},
    {"\x04", Key::quit},   {"y", Key::yes},     {"Y", Key::yes},     {"n", Key::no},
    {"N", Key::no},
};

// The length of an escape sequence that is not one of our keys, so that its letters are not taken for keys.
size_t sequence_length(std::string_view bytes) {
    if (bytes[0] != '\x1b' || bytes.size() < 2) return 1;
    if (bytes[1] == 'O') return std::min<size_t>(3, bytes.size());
    if (bytes[1] != '[') return 2;
    size_t end = 2;
    while (end < bytes.size() && (bytes[end] < '@' || bytes[end] > '~')) ++end;
    return std::min(end + 1, bytes.size());
}

}  // namespace

std::vector<Key> keys_in(std::string_view bytes) {
    std::vector<Key> keys;
    while (!bytes.empty()) {
        const Spelling* found = std::ranges::find_if(
            kSpellings, [&](const Spelling& spelling) { return bytes.starts_with(spelling.bytes); });
        if (found != std::end(kSpellings)) keys.push_back(found->key);
        bytes.remove_prefix(found != std::end(kSpellings) ? found->bytes.size() : sequence_length(bytes));
    }
    return keys;
}

}  // namespace monitor
