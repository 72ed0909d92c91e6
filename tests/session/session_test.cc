// SPDX-License-Identifier: MIT
// Real jails: exit statuses, what the command inherits, and what is left behind.
#include "session/session.h"

#include <sys/resource.h>

#include "session/jail_fixture.h"

namespace {

using testing_support::eventually;
using testing_support::Running;

class Session : public testing_support::JailTest {};

TEST_F(Session, TheStatusIsTheCommandsOwn) {
    Running plain(script("echo out; echo err >&2; exit 7"));
    EXPECT_EQ(plain.wait(), 7);
    EXPECT_EQ(plain.said(), "out\nerr\n");
    Running killed(script("kill -SEGV $$"));
    EXPECT_EQ(killed.wait(), 128 + SIGSEGV);
    EXPECT_NE(killed.said().find("signal 11"), std::string::npos);
}

TEST_F(Session, FailuresToStartAreTold) {
    Running missing(command({"no-such-command"}));
    EXPECT_EQ(missing.wait(), 127);
    EXPECT_NE(missing.said().find("'no-such-command' was not found in the jail"), std::string::npos);
    Running refused(command({"/etc/passwd"}));
    EXPECT_EQ(refused.wait(), 126);
    Running nowhere(script("echo ran", {"in", "/no/such/place"}));
    EXPECT_EQ(nowhere.wait(), 125);
    EXPECT_EQ(nowhere.said().find("ran"), std::string::npos);
    Running vanished(script("echo ran", {"readonly", project("absent")}));
    EXPECT_EQ(vanished.wait(), 125);
    EXPECT_NE(vanished.said().find("absent"), std::string::npos);
}

TEST_F(Session, WhatBubblewrapSaysBecomesOneLineOfOurs) {
    // The mount fails, because the parent of its target is not a directory.
    directory_.write("p/file", "x");
    Running jail(script("echo ran", {"mask", project("file/inside")}));
    EXPECT_EQ(jail.wait(), 125);
    EXPECT_TRUE(jail.said().starts_with("agent-sandbox: ")) << jail.said();
    EXPECT_EQ(std::count(jail.said().begin(), jail.said().end(), '\n'), 1) << jail.said();
}

TEST_F(Session, OnlyStandardDescriptorsReachTheCommand) {
    Running jail(script("ls /proc/self/fd | tr '\\n' ' '"), [] {
        ::dup2(0, 50);
        ::dup2(0, 7);
    });
    EXPECT_EQ(jail.wait(), 0);
    EXPECT_EQ(jail.said(), "0 1 2 3 ");  // 3 is the descriptor of the listing itself
}

TEST_F(Session, ClosedStandardDescriptorsDoNoHarm) {
    Running jail(script("echo fine > made; ls /proc/self/fd | wc -l >> made"), [] {
        ::close(0);
        ::close(2);
    });
    EXPECT_EQ(jail.wait(), 0);
    EXPECT_EQ(*base::read_file(project("made")), "fine\n4\n");
}

TEST_F(Session, SignalStateAndLimitsAreTheCallers) {
    // Without a shell, because a shell changes the signal state.
    Running jail(command({"grep", "-E", "Sig(Blk|Ign)|Max open", "/proc/self/status", "/proc/self/limits"}),
                 [] {
                     for (int number = 1; number < 32; ++number) ::signal(number, SIG_DFL);
                     ::signal(SIGHUP, SIG_IGN);
                     ::signal(SIGCHLD, SIG_IGN);
                     sigset_t blocked;
                     sigemptyset(&blocked);
                     sigaddset(&blocked, SIGUSR2);
                     sigprocmask(SIG_BLOCK, &blocked, nullptr);
                     struct rlimit limit = {100, 200};
                     ::setrlimit(RLIMIT_NOFILE, &limit);
                 });
    EXPECT_EQ(jail.wait(), 0);
    // SIGUSR2 is bit 11, SIGCHLD bit 16, SIGHUP bit 0.
    EXPECT_NE(jail.said().find("SigBlk:\t0000000000000800"), std::string::npos) << jail.said();
    size_t ignored = jail.said().find("SigIgn:\t");
    ASSERT_NE(ignored, std::string::npos) << jail.said();
    // Bits above 30 are signals of the C library, which keep the state that the caller of the tests had.
    uint64_t mask = std::stoull(jail.said().substr(ignored + 8, 16), nullptr, 16) & 0x7fffffff;
    EXPECT_EQ(mask, 0x10001u) << jail.said();
    EXPECT_NE(jail.said().find("  100  "), std::string::npos) << jail.said();
}

TEST_F(Session, TheEnvironmentIsThePlansAlone) {
    Running jail(script("env; tr '\\0' '\\n' < /proc/1/environ"),
                 [] { ::setenv("LEAKED_SECRET", "value", 1); });
    EXPECT_EQ(jail.wait(), 2) << "the environment of pid 1 must not be readable: " << jail.said();
    EXPECT_NE(jail.said().find("TERM=dumb"), std::string::npos);
    EXPECT_EQ(jail.said().find("LEAKED_SECRET"), std::string::npos);
}

TEST_F(Session, PidOneCanNotBeSeenIntoOrDisturbed) {
    Running jail(script(
        "ls -l /proc/1/exe 2>&1; kill -TERM 1; kill -INT 1; kill -KILL 1; kill -STOP 1; echo alive; exit 3"));
    EXPECT_EQ(jail.wait(), 3);
    EXPECT_NE(jail.said().find("Permission denied"), std::string::npos);
    EXPECT_NE(jail.said().find("alive"), std::string::npos);
}

TEST_F(Session, TheCallersProcessGroupIsOutOfReach) {
    // The control: outside a jail, kill 0 reaches the whole group, ourselves included.
    Running outside(command({"true"}), [] { ::kill(0, SIGTERM); });
    EXPECT_EQ(outside.wait(), 128 + SIGTERM);
    Running jail(script("trap '' TERM; kill -TERM 0; echo still here; exit 5"));
    EXPECT_EQ(jail.wait(), 5);
    EXPECT_NE(jail.said().find("still here"), std::string::npos);
}

TEST_F(Session, NothingOfTheJailOutlivesTheCommand) {
    Running jail(script(
        "setsid sh -c 'echo up > up; while :; do echo x > beat; done' & while ! test -e up; do :; done"));
    EXPECT_EQ(jail.wait(), 0);
    std::filesystem::remove(project("beat"));
    testing_support::let_others_run(std::chrono::milliseconds(20));
    EXPECT_FALSE(std::filesystem::exists(project("beat")));
}

TEST_F(Session, OrphansAreReaped) {
    Running jail(
        script("(sh -c 'sleep 0 & sleep 0 &' &) ; while ls /proc | grep -qx 9; do :; done; sleep 0.05;"
               "grep -l 'State:.Z' /proc/[0-9]*/status; exit 0"));
    EXPECT_EQ(jail.wait(), 0);
    EXPECT_EQ(jail.said(), "");
}

TEST_F(Session, PrivateDirectoriesAreOpenToEveryProgram) {
    Running jail(script("stat -c %a /tmp /dev/shm"));
    EXPECT_EQ(jail.wait(), 0);
    EXPECT_EQ(jail.said(), "1777\n1777\n");
}

TEST_F(Session, MasksReadAsEmptyAndCanNotBeMovedAside) {
    directory_.write("p/.env", "secret");
    Running jail(script("cat .env && test -f .env && ! echo x > .env; ! mv .env other && ! rm .env",
                        {"mask", project(".env")}));
    EXPECT_EQ(jail.wait(), 0);
    EXPECT_EQ(jail.said().find("secret"), std::string::npos);
    EXPECT_EQ(*base::read_file(project(".env")), "secret");
}

TEST_F(Session, HundredsOfMasksNeedNoHigherLimitOfDescriptors) {
    std::vector<std::string> options;
    for (int i = 0; i < 300; ++i) {
        std::string name = "secret" + std::to_string(i);
        directory_.write("p/" + name, "secret");
        options.insert(options.end(), {"mask", project(name)});
    }
    Running jail(script("cat secret*; echo done", options), [] {
        struct rlimit limit = {64, 4096};
        ::setrlimit(RLIMIT_NOFILE, &limit);
    });
    EXPECT_EQ(jail.wait(), 0);
    EXPECT_EQ(jail.said(), "done\n");
}

TEST_F(Session, NewDirectoriesAreMade) {
    Running jail(script("true", {"directory", directory_ / "home/.cache/tool"}));
    EXPECT_EQ(jail.wait(), 0);
    EXPECT_EQ(std::filesystem::status(directory_ / "home/.cache/tool").permissions(),
              std::filesystem::perms::owner_all);
}

TEST_F(Session, PlaceholdersHoldTheirNameAndLeaveNoGhost) {
    Running jail(script("! mkdir .vscode 2>&1; ! touch .vscode/tasks.json; ! mv .vscode x && ! rmdir .vscode",
                        {"placeholder", project(".vscode")}));
    EXPECT_EQ(jail.wait(), 0) << jail.said();
    EXPECT_TRUE(std::filesystem::is_empty(project()));
}

TEST_F(Session, TheTrashIsEmptiedAfterTheRun) {
    std::filesystem::create_directories(directory_ / "state/trash/77.1.2/%left%by%a%killed%session");
    Running jail(script("true", {"placeholder", project(".vscode")}));
    EXPECT_EQ(jail.wait(), 0);
    EXPECT_FALSE(std::filesystem::exists(project(".vscode")));
    EXPECT_TRUE(eventually([&] { return std::filesystem::is_empty(directory_ / "state/trash"); }));
}

TEST_F(Session, PlaceholdersStayUntilTheLastSessionEnds) {
    std::vector<std::string> options = {"placeholder", project(".vscode")};
    Running first(script("echo up; while ! test -e stop1; do sleep 0.01; done", options));
    ASSERT_TRUE(first.says("up"));
    Running second(script("echo up; while ! test -e stop2; do sleep 0.01; done; ! touch .vscode/x", options));
    ASSERT_TRUE(second.says("up"));
    directory_.write("p/stop1", "");
    EXPECT_EQ(first.wait(), 0);
    EXPECT_TRUE(std::filesystem::exists(project(".vscode")));
    directory_.write("p/stop2", "");
    EXPECT_EQ(second.wait(), 0) << second.said();
    EXPECT_FALSE(std::filesystem::exists(project(".vscode")));
}

}  // namespace
