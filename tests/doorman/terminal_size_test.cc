// SPDX-License-Identifier: MIT
#include <pty.h>
#include <sys/ioctl.h>

#include "jail.h"

namespace doorman {
namespace {

constexpr struct winsize kBefore = {24, 80, 0, 0};
constexpr struct winsize kOther = {10, 40, 0, 0};

int resizes(int terminal, const struct winsize& size) {
    return result_of(::ioctl(terminal, TIOCSWINSZ, &size));
}

int rows_of(int terminal) {
    struct winsize size = {};
    return ::ioctl(terminal, TIOCGWINSZ, &size) == 0 ? size.ws_row : -1;
}

AnsweredCalls keeping() {
    return {.is_wanted = true, .guards_terminal_size = true};
}

// Runs `act` in a new session with the controlling terminal `slave`; the doorman is in that session.
int in_session(int slave, const std::function<int()>& act) {
    pid_t child = ::fork();
    if (child == 0) {
        ::setsid();
        ::ioctl(slave, TIOCSCTTY, 0);
        ::_exit(act());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : kKilled;
}

class TerminalSizeTest : public testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(::openpty(&master, &slave, nullptr, nullptr, &kBefore), 0); }
    void TearDown() override {
        ::close(master);
        ::close(slave);
    }
    int run(const std::function<int()>& act) {
        return in_session(slave, [&] { return Jail(keeping()).run(act); });
    }
    int control(const std::function<int()>& act) {
        return in_session(slave, [&] { return Jail::control(act); });
    }

    int master = -1, slave = -1;
};

TEST_F(TerminalSizeTest, OfTheSessionStays) {
    auto by_descriptor = [&] { return resizes(::dup(slave), kOther); };
    auto by_name = [] { return resizes(::open("/dev/tty", O_RDWR | O_NOCTTY), kOther); };
    EXPECT_EQ(run(by_descriptor), EPERM);
    EXPECT_EQ(run(by_name), EPERM);
    EXPECT_EQ(rows_of(master), kBefore.ws_row);
    EXPECT_EQ(control(by_name), 0);
    EXPECT_EQ(rows_of(master), kOther.ws_row);
}

TEST_F(TerminalSizeTest, ThatIsThereCanBeSet) {
    EXPECT_EQ(run([&] { return resizes(slave, kBefore); }), 0);
}

TEST_F(TerminalSizeTest, OfOtherTerminalsIsTheCallersOwn) {
    EXPECT_EQ(run([&] {
                  int inner_master = -1, inner_slave = -1;
                  if (::openpty(&inner_master, &inner_slave, nullptr, nullptr, &kBefore) != 0) return errno;
                  if (int number = resizes(inner_master, kOther); number != 0) return number;
                  if (rows_of(inner_slave) != kOther.ws_row) return kUnexpected;
                  if (int number = resizes(inner_slave, kBefore); number != 0) return number;
                  // The terminal of a session inside, through /dev/tty.
                  return in_session(inner_slave, [] { return resizes(::open("/dev/tty", O_RDWR), kOther); });
              }),
              0);
    EXPECT_EQ(rows_of(master), kBefore.ws_row);
}

TEST_F(TerminalSizeTest, IsOfTerminalsOnly) {
    EXPECT_EQ(run([] { return resizes(-1, kOther); }), EBADF);
    EXPECT_EQ(run([] { return resizes(::open("/dev/null", O_RDWR), kOther); }), ENOTTY);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    EXPECT_EQ(run([&] { return resizes(ends[0], kOther); }), ENOTTY);
    EXPECT_EQ(run([&] { return resizes(::open("/dev/tty", O_PATH), kOther); }), EBADF);
    EXPECT_EQ(run([&] { return result_of(::syscall(SYS_ioctl, slave, TIOCSWINSZ, 8)); }), EFAULT);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_F(TerminalSizeTest, OfAConsoleStays) {
    constexpr unsigned long kResizeConsole = 0x5609;  // VT_RESIZE
    EXPECT_EQ(run([&] { return result_of(::ioctl(slave, kResizeConsole, nullptr)); }), EPERM);
}

}  // namespace
}  // namespace doorman
