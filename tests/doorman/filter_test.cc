// SPDX-License-Identifier: MIT
#include "doorman/filter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "jail.h"

namespace doorman {
namespace {

AnsweredCalls everything() {
    AnsweredCalls calls;
    calls.is_wanted = true;
    calls.internet = Internet::handed;
    calls.guards_sockets = calls.guards_attributes = calls.guards_truncation = true;
    calls.guards_processes = calls.guards_signals = true;
    return calls;
}

TEST(Filter, IsOneThatTheKernelTakes) {
    std::vector<sock_filter> program = compile(rows_for(everything()));
    EXPECT_LE(program.size(), size_t{BPF_MAXINSNS});
    EXPECT_EQ(Jail(everything()).run([] { return 0; }), 0);
}

TEST(Filter, AsksNothingWithoutOrders) {
    EXPECT_TRUE(rows_for({}).empty());
}

TEST(Filter, KeepsTheListenerFromPrograms) {
    EXPECT_EQ(Jail::control([] {
                  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                  int listener = install(everything());
                  return listener >= 0 && (::fcntl(listener, F_GETFD) & FD_CLOEXEC) ? 0 : kUnexpected;
              }),
              0);
}

// Threat: a second listener could let pass what the first one refuses.
TEST(Filter, LetsNobodyElseAnswer) {
    EXPECT_EQ(Jail(everything()).run([] { return install(everything()) == -EBUSY ? 0 : kUnexpected; }), 0);
}

TEST(Filter, LetsNobodyHide) {
    AnsweredCalls calls = everything();
    EXPECT_EQ(Jail(calls).run([] {
        if (::prctl(PR_SET_DUMPABLE, 0) != 0 || ::prctl(PR_GET_DUMPABLE) != 1) return kUnexpected;
        int ends[2];
        (void)!::pipe(ends);
        return result_of(::fchmod(ends[0], 0600));
    }),
              0);
}

// Tests of one row, as the kernel evaluates them.
TEST(Filter, ComparesAsItSays) {
    struct Case {
        doorman::Test test;
        uint64_t value;
        bool holds;
    };
    constexpr uint64_t kHigh = uint64_t{1} << 32;
    const Case cases[] = {
        {{.argument = 5, .value = 7}, 7, true},
        {{.argument = 5, .value = 7}, 7 + kHigh, true},
        {{.argument = 5, .value = 7}, 8, false},
        {{.argument = 5, .mask = 0xf, .value = 2}, 0x802, true},
        {{.argument = 5, .kind = doorman::Test::Kind::differs, .value = 7}, 8, true},
        {{.argument = 5, .kind = doorman::Test::Kind::differs, .value = 7}, 7, false},
        {{.argument = 5, .kind = doorman::Test::Kind::is_null}, 0, true},
        {{.argument = 5, .kind = doorman::Test::Kind::is_null}, kHigh, false},
        {{.argument = 5, .kind = doorman::Test::Kind::is_null}, 1, false},
    };
    for (const Case& each : cases) {
        EXPECT_EQ(Jail::control([&] {
                      const Row row{SYS_getppid, {each.test, each.test}, SECCOMP_RET_ERRNO | EXDEV};
                      std::vector<sock_filter> program = compile(std::span(&row, 1));
                      sock_fprog given = {static_cast<unsigned short>(program.size()), program.data()};
                      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                      if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &given) != 0) return kUnexpected;
                      long returned = ::syscall(SYS_getppid, 0, 0, 0, 0, 0, each.value);
                      return returned < 0 ? errno : 0;
                  }),
                  each.holds ? EXDEV : 0);
    }
}

}  // namespace
}  // namespace doorman
