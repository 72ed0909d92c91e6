// SPDX-License-Identifier: MIT
#include "base/process/event_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/process/descriptors.h"

namespace {

using std::chrono::milliseconds;

struct Pipe {
    Pipe() {
        int ends[2];
        EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
        reader = base::Fd(ends[0]);
        writer = base::Fd(ends[1]);
    }
    void fill() const { EXPECT_EQ(::write(writer.get(), "x", 1), 1); }
    base::Fd reader, writer;
};

class Sources : public testing::Test {
  protected:
    void add(const std::string& name, const Pipe& pipe) {
        loop.add(
            {.descriptor = [&pipe] { return pipe.reader.get(); }, .serve = [this, name] { served += name; }});
    }
    base::EventLoop loop;
    std::string served;
};

TEST_F(Sources, AreServedInTheOrderInWhichTheyWereAdded) {
    Pipe first, second, third;
    add("1", first);
    add("2", second);
    add("3", third);
    third.fill();
    first.fill();
    loop.turn();
    EXPECT_EQ(served, "13");
}

TEST_F(Sources, AreAskedForTheirDescriptorBeforeEachWait) {
    Pipe pipe;
    pipe.fill();
    bool waits = false;
    loop.add({.descriptor = [&] { return waits ? pipe.reader.get() : -1; }, .serve = [&] { served += "x"; }});
    loop.turn(milliseconds(0));
    EXPECT_EQ(served, "");
    waits = true;
    loop.turn();
    EXPECT_EQ(served, "x");
}

TEST_F(Sources, AreServedWhenTheOtherEndIsClosed) {
    Pipe pipe;
    add("x", pipe);
    pipe.writer.reset();
    loop.turn();
    EXPECT_EQ(served, "x");
}

TEST_F(Sources, AreServedIfTheyWereReadyWhenTheTurnBegan) {
    Pipe first, second;
    loop.add({.descriptor = [&] { return first.reader.get(); }, .serve = [&] { second.reader.reset(); }});
    add("2", second);
    first.fill();
    second.fill();
    loop.turn();
    EXPECT_EQ(served, "2");
}

TEST_F(Sources, WaitForTheEventsThatAStreamNames) {
    Pipe pipe;
    bool writes = false;
    loop.add(
        base::Stream{.awaited =
                         [&] {
                             return pollfd{pipe.writer.get(), static_cast<short>(writes ? POLLOUT : 0), 0};
                         },
                     .serve = [&](short events) { served += events == POLLOUT ? "out" : "other"; }});
    loop.turn(milliseconds(0));
    EXPECT_EQ(served, "");
    writes = true;
    loop.turn();
    EXPECT_EQ(served, "out");
}

TEST_F(Sources, CanBeAddedWhileOneIsServed) {
    Pipe first, second;
    first.fill();
    second.fill();
    bool has_added = false;
    loop.add({.descriptor = [&] { return first.reader.get(); },
              .serve =
                  [&] {
                      served += "1";
                      // Many, so that a container which moves its elements would do so.
                      for (int i = 0; i < 100 && !has_added; ++i) add("2", second);
                      has_added = true;
                  }});
    loop.turn();
    EXPECT_EQ(served, "1");
    loop.turn();
    EXPECT_EQ(served, "11" + std::string(100, '2'));
}

TEST_F(Sources, ThatAreRemovedAreServedNoMore) {
    Pipe first, second, third;
    for (const Pipe* pipe : {&first, &second, &third}) pipe->fill();
    base::EventLoop::SourceId own = 0, next = 0;
    own = loop.add({.descriptor = [&] { return first.reader.get(); },
                    .serve =
                        [&] {
                            served += "1";
                            loop.remove(own);
                            loop.remove(next);
                        }});
    next = loop.add({.descriptor = [&] { return second.reader.get(); }, .serve = [this] { served += "2"; }});
    add("3", third);
    loop.turn();
    loop.turn();
    EXPECT_EQ(served, "133");
}

TEST_F(Sources, AreServedNoMoreInATurnThatStops) {
    Pipe first, second;
    first.fill();
    second.fill();
    loop.add({.descriptor = [&] { return first.reader.get(); }, .serve = [this] { loop.stop(); }});
    add("2", second);
    loop.run();
    EXPECT_EQ(served, "");
}

// A turn without an event ends when the shortest patience is over, so these tests would hang otherwise.
TEST_F(Sources, CanLimitTheWait) {
    loop.add({.descriptor = [] { return -1; }, .serve = [] {}, .patience = [] { return 1; }});
    loop.add({.descriptor = [] { return -1; }, .serve = [] {}, .patience = [] { return -1; }});
    loop.turn();
}

TEST_F(Sources, ComeAfterTheChecks) {
    Pipe pipe;
    pipe.fill();
    add("source ", pipe);
    loop.add_check([] { return -1; }, [this] { served += "check "; });
    loop.turn();
    EXPECT_EQ(served, "check source ");
}

TEST_F(Sources, ChecksRunWhenTheirPatienceIsOver) {
    loop.add_check([] { return 1; }, [this] { served += "check"; });
    loop.turn();
    EXPECT_EQ(served, "check");
}

TEST_F(Sources, TimersRunBesideThem) {
    Pipe pipe;
    add("x", pipe);
    loop.after(milliseconds(1), [this] { loop.stop(); });
    loop.run();
    EXPECT_EQ(served, "");
}

TEST_F(Sources, SignalsAreReadUntilNoneIsLeft) {
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, &before);
    base::Fd signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    loop.add(base::signal_source(signals.get(), [this](const struct signalfd_siginfo& signal) {
        served += signal.ssi_signo == SIGUSR1 ? "1" : "2";
    }));
    ::raise(SIGUSR1);
    ::raise(SIGUSR2);
    loop.turn();
    EXPECT_EQ(served, "12");
    sigprocmask(SIG_SETMASK, &before, nullptr);
}

TEST_F(Sources, TheEndOfAProcessIsAnEvent) {
    pid_t child = ::fork();
    if (child == 0) {
        ::pause();
        ::_exit(0);
    }
    base::Fd pidfd = base::open_pidfd(child);
    ASSERT_TRUE(pidfd) << -pidfd.get();
    loop.add({.descriptor = [&] { return pidfd.get(); }, .serve = [this] { served += "end"; }});
    loop.turn(milliseconds(0));
    EXPECT_EQ(served, "");
    EXPECT_TRUE(base::send_signal(pidfd, SIGKILL));
    loop.turn();
    EXPECT_EQ(served, "end");
    ::waitpid(child, nullptr, 0);
    EXPECT_FALSE(base::send_signal(pidfd, SIGKILL));
}

TEST(Pidfd, OfAMissingProcessHasTheReason) {
    pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(base::open_pidfd(child).get(), -ESRCH);
}

struct Counter : base::Watcher {
    void on_ready(uint32_t, int which) override { sum += which; }
    int sum = 0;
};

TEST(Watchers, AreServedUntilTheyAreForgotten) {
    base::EventLoop loop;
    ASSERT_TRUE(loop.open());
    Pipe pipe;
    Counter counter;
    base::EventLoop::Slot slot = loop.watch(pipe.reader.get(), EPOLLIN, counter, 3);
    pipe.fill();
    loop.turn();
    EXPECT_EQ(counter.sum, 3);
    loop.forget(slot, pipe.reader.get());
    loop.turn(milliseconds(0));
    EXPECT_EQ(counter.sum, 3);
}

}  // namespace
