// SPDX-License-Identifier: MIT
// Signals that are sent to the supervisor or to its whole job.
#include "session/jail_fixture.h"

namespace {

using std::chrono::milliseconds;
using testing_support::let_others_run;
using testing_support::Running;

// The test always requests the count with SIGWINCH: if both signals are pending, the kernel delivers the
// lower number first, and SIGWINCH has the highest.
class SessionSignals : public testing_support::JailTest {
  protected:
    // Counts in one process without children, because a shell that waits for a child handles a signal later.
    std::vector<std::string> counter_of(int signal) const {
        static constexpr const char* kCounter = R"(
import os, signal, sys, time
got = []
def finish(*_):
    print("got", len(got), flush=True)
    os._exit(4)
signal.signal(int(sys.argv[1]), lambda *_: got.append(1))
signal.signal(signal.SIGWINCH, finish)
print("up", flush=True)
while True:
    time.sleep(1)
)";
        return command({"python3", "-c", kCounter, std::to_string(signal)});
    }
};

TEST_F(SessionSignals, AreForwardedToTheCommandOnce) {
    for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM}) {
        Running jail(counter_of(signal));
        ASSERT_TRUE(jail.says("up"));
        ::kill(jail.pid(), signal);
        let_others_run(milliseconds(50));
        ::kill(jail.pid(), SIGWINCH);
        EXPECT_EQ(jail.wait(), 4) << signal;
        EXPECT_NE(jail.said().find("got 1\n"), std::string::npos) << signal << ": " << jail.said();
    }
}

TEST_F(SessionSignals, ToTheWholeJobReachTheCommandOnce) {
    Running jail(counter_of(SIGTERM));
    ASSERT_TRUE(jail.says("up"));
    ::kill(-jail.pid(), SIGTERM);
    let_others_run(milliseconds(50));
    ::kill(jail.pid(), SIGWINCH);
    EXPECT_EQ(jail.wait(), 4);
    EXPECT_NE(jail.said().find("got 1\n"), std::string::npos) << jail.said();
}

TEST_F(SessionSignals, EndACommandThatDoesNotCare) {
    Running jail(command({"sleep", "100"}));
    // A signal sent before the command runs stays pending until it does.
    ::poll(nullptr, 0, 5);
    ::kill(jail.pid(), SIGTERM);
    EXPECT_EQ(jail.wait(), 128 + SIGTERM);
}

}  // namespace
