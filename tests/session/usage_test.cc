// SPDX-License-Identifier: MIT
#include "session/limits/watch.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "session/running.h"

namespace {

using session::Meter;

constexpr uint64_t kMegabyte = 1 << 20;
constexpr uint64_t kNoLimit = ~uint64_t{0};

// A child that runs `body` and then waits to be killed.
class Child {
  public:
    explicit Child(void (*body)()) {
        int ends[2];
        if (::pipe(ends) != 0) std::abort();
        pid_ = ::fork();
        if (pid_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            body();
            (void)!::write(ends[1], "x", 1);
            for (;;) ::pause();
        }
        char byte;
        (void)!::read(ends[0], &byte, 1);
        ::close(ends[0]);
        ::close(ends[1]);
    }
    ~Child() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    pid_t pid() const { return pid_; }

  private:
    pid_t pid_;
};

void fill(uint64_t megabytes) {
    void* place =
        ::mmap(nullptr, megabytes * kMegabyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(place, 1, megabytes * kMegabyte);
}

TEST(Meter, AddsUpAProcessAndAllBelowIt) {
    ASSERT_TRUE(Meter::is_possible());
    Child child([] {
        fill(20);
        static Child grandchild([] { fill(30); });
    });
    uint64_t memory = Meter(child.pid(), {}).memory(kNoLimit);
    EXPECT_GT(memory, 70 * kMegabyte);  // the quick sum counts shared pages twice
    EXPECT_LT(memory, 90 * kMegabyte);
}

TEST(Meter, CountsSharedPagesOnceWhereItMatters) {
    Child child([] {
        fill(40);
        static Child first([] {}), second([] {}), third([] {});
    });
    Meter meter(child.pid(), {});
    EXPECT_GT(meter.memory(kNoLimit), 160 * kMegabyte);
    EXPECT_LT(meter.memory(60 * kMegabyte), 60 * kMegabyte);
}

TEST(Meter, SeesProcessorTimeOfTheLivingAndTheDead) {
    Child idle([] {});
    EXPECT_LE(Meter(idle.pid(), {}).processor_ticks(), 1u);
    Child busy([] {
        pid_t worker = ::fork();
        if (worker == 0) {
            while (::clock() < CLOCKS_PER_SEC / 10) continue;
            ::_exit(0);
        }
        ::waitpid(worker, nullptr, 0);
    });
    EXPECT_GE(Meter(busy.pid(), {}).processor_ticks(), 8u);
}

TEST(Meter, OfNobodyIsNothing) {
    EXPECT_EQ(Meter(0x7ffffffe, {"/tmp"}).memory(kNoLimit), 0u);
}

}  // namespace
