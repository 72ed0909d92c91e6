// SPDX-License-Identifier: MIT
// Text that is typed into the caller's terminal runs in the caller's shell. The probes have their own
// terminal as standard input and as controlling terminal, like a command that a user starts.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "selftest/attempt.h"
#include "selftest/catalogue.h"

namespace selftest {
namespace {

constexpr std::string_view kNoTyping = "this kernel refuses it to everyone (dev.tty.legacy_tiocsti)";

Finding type_into(int terminal, unsigned long request) {
    char letter = ' ';
    return outcome(::syscall(SYS_ioctl, terminal, request, &letter), "a letter was typed");
}

Finding type_into_controlling(const World&) {
    base::Fd terminal(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
    return terminal ? type_into(terminal.get(), TIOCSTI) : held(errno);
}

// Adds a row, and removes it again.
Finding resize(const World&) {
    struct winsize before = {};
    if (::ioctl(STDIN_FILENO, TIOCGWINSZ, &before) != 0) return held(errno);
    struct winsize changed = before;
    ++changed.ws_row;
    int result = ::ioctl(STDIN_FILENO, TIOCSWINSZ, &changed);
    Finding finding = outcome(result, "it has one row more");
    if (result == 0) ::ioctl(STDIN_FILENO, TIOCSWINSZ, &before);
    return finding;
}

Finding use_console_call(const World&) {
    // "Paste the selection" of a text console.
    char subcode = 3;
    int result = ::ioctl(STDIN_FILENO, TIOCLINUX, &subcode);
    if (result < 0 && errno == ENOTTY) return held("ENOTTY: not refused, but without meaning here");
    return outcome(result, "the console obeyed");
}

}  // namespace

void add_terminal(Probes& probes) {
    auto add = [&](const std::string& name, const std::string& what, Attempt attempt,
                   std::string_view excuse = {}) {
        probes.push_back(
            {.name = "terminal/" + name, .what = what, .attempt = std::move(attempt), .excuse = excuse});
    };
    add(
        "type", "types into the terminal with TIOCSTI",
        [](const World&) { return type_into(STDIN_FILENO, TIOCSTI); }, kNoTyping);
    add(
        "type-high-bits", "types with TIOCSTI and bits set that the kernel does not look at",
        [](const World&) { return type_into(STDIN_FILENO, TIOCSTI | 1ul << 32); }, kNoTyping);
    add("type-controlling", "types into /dev/tty with TIOCSTI", type_into_controlling, kNoTyping);
    add("size", "changes the size of the terminal", resize);
    add("console", "pastes into a text console with TIOCLINUX", use_console_call, "needs a text console");
    add("other-terminal", "opens another terminal of the caller", [](const World& world) {
        base::Fd terminal(::open(world.terminal.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
        return outcome(terminal.get(), "it was opened");
    });
    add("other-terminal-seen", "looks for another terminal of the caller",
        [](const World& world) { return see(world.terminal); });
    for (const char* path : {"/dev/tty1", "/dev/vcs1", "/dev/uinput"}) {
        add(
            "device-" + std::string(path + 5), "looks for " + std::string(path),
            [path](const World&) { return see(path); }, "this host has no such thing");
    }
}

}  // namespace selftest
