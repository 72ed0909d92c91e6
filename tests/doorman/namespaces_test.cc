// SPDX-License-Identifier: MIT
#include <sched.h>

#include <algorithm>

#include "jail.h"

namespace doorman {
namespace {

constexpr int kNewTime = 0x80;  // CLONE_NEWTIME
constexpr int kNamespaces[] = {kNewTime,     CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS,
                               CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};

AnsweredCalls refusing() {
    return {.is_wanted = true, .refuses_namespaces = true};
}

int unshares(int flags) {
    return result_of(::unshare(flags));
}

// The flags of clone() share a word with the signal that ends the child.
int clones(unsigned long flags) {
    const long child = ::syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (child < 0) return errno;
    if (child == 0) ::syscall(SYS_exit_group, 0);
    ::waitpid(static_cast<pid_t>(child), nullptr, 0);
    return 0;
}

TEST(Namespaces, AreRefusedWithEveryFlag) {
    Jail jail(refusing());
    for (int flag : kNamespaces) {
        EXPECT_EQ(jail.run([&] { return unshares(flag); }), EPERM) << flag;
        // With a user namespace every user may make the others.
        EXPECT_EQ(jail.run([&] { return unshares(flag | CLONE_NEWUSER); }), EPERM) << flag;
        EXPECT_EQ(Jail::control([&] { return unshares(flag | CLONE_NEWUSER); }), 0) << flag;
        if (flag == kNewTime) continue;  // clone() has no such flag
        EXPECT_EQ(jail.run([&] { return clones(static_cast<unsigned>(flag)); }), EPERM) << flag;
        EXPECT_EQ(jail.run([&] { return clones(static_cast<unsigned>(flag) | CLONE_NEWUSER); }), EPERM);
        EXPECT_EQ(Jail::control([&] { return clones(static_cast<unsigned>(flag) | CLONE_NEWUSER); }), 0);
    }
}

TEST(Namespaces, AreNotWhatOtherFlagsAskFor) {
    int reports = 0;
    Jail jail(refusing(), {.on_refused_namespaces = [&](const std::string&) { ++reports; }});
    EXPECT_EQ(jail.run([] { return unshares(CLONE_FILES | CLONE_FS); }), 0);
    EXPECT_EQ(jail.run([] { return clones(0); }), 0);
    EXPECT_EQ(jail.run([] { return clones(CLONE_FILES | CLONE_FS); }), 0);
    EXPECT_EQ(reports, 0);
}

TEST(Namespaces, TheProgramThatWantedThemIsNamed) {
    std::vector<std::string> programs;
    Jail jail(refusing(),
              {.on_refused_namespaces = [&](const std::string& name) { programs.push_back(name); }});
    EXPECT_EQ(jail.run([] { return clones(CLONE_NEWUSER); }), EPERM);
    char own[4096];
    const ssize_t length = ::readlink("/proc/self/exe", own, sizeof own);
    const std::string path(own, static_cast<size_t>(std::max<ssize_t>(length, 0)));
    ASSERT_EQ(programs.size(), 1u);
    EXPECT_EQ(programs[0], path.substr(path.rfind('/') + 1));
}

// Threat: what the caller does to itself while its call waits changes only the name that is reported.
TEST(Namespaces, AreRefusedWhereTheProgramCannotBeNamed) {
    Jail jail(refusing(), {.on_refused_namespaces = [](const std::string&) {}});
    EXPECT_EQ(jail.run([] {
        ::prctl(PR_SET_DUMPABLE, 0);
        return unshares(CLONE_NEWUSER);
    }),
              EPERM);
}

// The process that answers was killed: the kernel answers in its place.
TEST(Namespaces, AreRefusedWithoutAProcessThatAnswers) {
    auto without = [](bool is_answered) {
        return Jail::control([&] {
            ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            AnsweredCalls calls = refusing();
            calls.is_answered = is_answered;
            if (is_answered) {
                const int listener = install(calls);
                if (listener < 0) return kUnexpected;
                ::close(listener);
            } else if (install_refusals(calls) != 0) {
                return kUnexpected;
            }
            return unshares(CLONE_NEWUSER);
        });
    };
    EXPECT_EQ(without(true), ENOSYS);
    EXPECT_EQ(without(false), EPERM);
}

}  // namespace
}  // namespace doorman
