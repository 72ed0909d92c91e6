// SPDX-License-Identifier: MIT
// Signals that are sent to the supervisor or to its whole job.
#include "session/jail_fixture.h"

namespace {

using std::chrono::milliseconds;
using testing_support::let_others_run;
using testing_support::Running;

// The one that asks for the number is SIGWINCH throughout: where both wait to be delivered, the lower number
// comes first, and it has the highest.
class SessionSignals : public testing_support::JailTest {};

TEST_F(SessionSignals, AreForwardedToTheCommandOnce) {
    for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM}) {
        std::string name = std::to_string(signal);
        Running jail(script("n=0; trap 'n=$((n+1))' " + name +
                            "; trap 'echo got $n; exit 4' WINCH; echo up; while :; do sleep 0.01; done"));
        ASSERT_TRUE(jail.says("up"));
        ::kill(jail.pid(), signal);
        let_others_run(milliseconds(50));
        ::kill(jail.pid(), SIGWINCH);
        EXPECT_EQ(jail.wait(), 4) << name;
        EXPECT_NE(jail.said().find("got 1\n"), std::string::npos) << name << ": " << jail.said();
    }
}

TEST_F(SessionSignals, ToTheWholeJobReachTheCommandOnce) {
    Running jail(
        script("n=0; trap 'n=$((n+1))' TERM; trap 'echo got $n; exit 4' WINCH; echo up; while :; do sleep "
               "0.01; done"));
    ASSERT_TRUE(jail.says("up"));
    ::kill(-jail.pid(), SIGTERM);
    let_others_run(milliseconds(50));
    ::kill(jail.pid(), SIGWINCH);
    EXPECT_EQ(jail.wait(), 4);
    EXPECT_NE(jail.said().find("got 1\n"), std::string::npos) << jail.said();
}

TEST_F(SessionSignals, EndACommandThatDoesNotCare) {
    Running jail(command({"sleep", "100"}));
    // Sent before the command runs, it is kept until it does.
    ::poll(nullptr, 0, 5);
    ::kill(jail.pid(), SIGTERM);
    EXPECT_EQ(jail.wait(), 128 + SIGTERM);
}

}  // namespace
