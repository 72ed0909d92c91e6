// SPDX-License-Identifier: MIT
// Walls around real processes. Each claim is tested behind the wall and, as a control, in front of it.
// Versions older than the kernel's are tested too.
#include "landlock/wall.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>

#include "base/temporary_directory.h"

namespace {

using landlock::Wall;
using Act = std::function<int()>;  // zero or an errno

int result_of(int returned) {
    return returned >= 0 ? 0 : errno;
}

// Runs the act in a child process; with a wall, behind it.
int in_child(const Act& act, const Wall* wall = nullptr, int abi = 0, const std::vector<int>& reopened = {}) {
    pid_t child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (wall != nullptr) {
            landlock::Built built = landlock::build(*wall, abi, reopened);
            if (built.failure != 0 || landlock::enter(built) != 0) ::_exit(255);
        }
        ::_exit(act());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
}

Act writes(const std::string& path) {
    return [=] { return result_of(::open(path.c_str(), O_WRONLY | O_CLOEXEC)); };
}
Act makes(const std::string& path) {
    return [=] { return result_of(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)); };
}
Act moves(const std::string& from, const std::string& to) {
    return [=] { return result_of(::rename(from.c_str(), to.c_str())); };
}
Act truncates(const std::string& path) {
    return [=] { return result_of(::truncate(path.c_str(), 0)); };
}

class WallTest : public testing::Test {
  protected:
    void SetUp() override {
        if (landlock::kernel_abi() < 1) GTEST_SKIP() << "this kernel has no Landlock";
        for (const char* name : {"open", "open/sub", "closed"}) ::mkdir(at(name).c_str(), 0700);
        for (const char* name : {"open/file", "closed/file"}) ASSERT_EQ(makes(at(name))(), 0);
        wall_.writable = {at("open")};
    }
    std::string at(const std::string& name) const { return directory_ / name; }
    bool kernel_has(int abi) const { return landlock::kernel_abi() >= abi; }

    // The act fails behind the wall with this errno, and works in front of it.
    void expect_refused(const Act& act, int number, int abi) {
        EXPECT_EQ(in_child(act, &wall_, abi), number) << "behind, ABI " << abi;
        EXPECT_EQ(in_child(act), 0) << "in front, ABI " << abi;
    }
    void expect_works(const Act& act, int abi) { EXPECT_EQ(in_child(act, &wall_, abi), 0) << "ABI " << abi; }

    testing_support::TemporaryDirectory directory_;
    Wall wall_;
};

TEST_F(WallTest, WritesAreRefusedOutsideTheWritablePlacesWithEveryVersion) {
    for (int abi = landlock::kFirstUsableAbi; abi <= landlock::kernel_abi(); ++abi) {
        std::string number = std::to_string(abi);
        expect_refused(writes(at("closed/file")), EACCES, abi);
        expect_refused(makes(at("closed/new" + number)), EACCES, abi);
        expect_refused([&] { return result_of(::mkdir(at("closed/dir" + number).c_str(), 0700)); }, EACCES,
                       abi);
        expect_refused([&] { return result_of(::symlink("x", at("closed/link" + number).c_str())); }, EACCES,
                       abi);
        expect_refused([&] { return result_of(::unlink(at("closed/new" + number).c_str())); }, EACCES, abi);
        expect_refused([&] { return result_of(::rmdir(at("closed/dir" + number).c_str())); }, EACCES, abi);
    }
}

TEST_F(WallTest, WritesWorkInWritablePlacesWithEveryVersion) {
    for (int abi = landlock::kFirstUsableAbi; abi <= landlock::kernel_abi(); ++abi) {
        std::string number = std::to_string(abi);
        expect_works(writes(at("open/file")), abi);
        expect_works(makes(at("open/sub/new" + number)), abi);
        expect_works(moves(at("open/sub/new" + number), at("open/moved" + number)), abi);
        expect_works(
            [&] { return result_of(::link(at("open/file").c_str(), at("open/sub/hard" + number).c_str())); },
            abi);
        expect_works([&] { return result_of(::mkfifo(at("open/fifo" + number).c_str(), 0600)); }, abi);
        expect_works(truncates(at("open/file")), abi);
        expect_works([&] { return result_of(::unlink(at("open/moved" + number).c_str())); }, abi);
    }
}

TEST_F(WallTest, ReadingIsNoMatterOfTheWall) {
    expect_works([&] { return result_of(::open(at("closed/file").c_str(), O_RDONLY | O_CLOEXEC)); },
                 landlock::kernel_abi());
}

TEST_F(WallTest, TruncatingIsGuardedSinceVersionThree) {
    if (!kernel_has(3)) GTEST_SKIP();
    EXPECT_EQ(in_child(truncates(at("closed/file")), &wall_, 2), 0);
    expect_refused(truncates(at("closed/file")), EACCES, 3);
}

TEST_F(WallTest, AFileCantBeMovedOutOfOrIntoAClosedPlace) {
    if (!kernel_has(2)) GTEST_SKIP();
    int abi = landlock::kernel_abi();
    EXPECT_NE(in_child(moves(at("open/file"), at("closed/other")), &wall_, abi), 0);
    EXPECT_NE(in_child(moves(at("closed/file"), at("open/other")), &wall_, abi), 0);
    EXPECT_EQ(in_child(moves(at("closed/file"), at("open/other"))), 0);
}

// Version 1 forbids every move between directories: programs would break, so no wall is built.
TEST_F(WallTest, VersionOneBuildsNothing) {
    landlock::Built built = landlock::build(wall_, 1, {});
    EXPECT_EQ(built.abi, 0);
    EXPECT_EQ(built.failure, 0);
    EXPECT_EQ(in_child(writes(at("closed/file")), &wall_, 1), 0);
    EXPECT_EQ(in_child(moves(at("open/file"), at("open/sub/file")), &wall_, 1), 0);
}

TEST_F(WallTest, WithoutLandlockNothingIsBuiltAndNothingFails) {
    landlock::Built built = landlock::build(wall_, 0, {});
    EXPECT_EQ(built.abi, 0);
    EXPECT_EQ(landlock::enter(built), 0);
}

TEST_F(WallTest, ASingleFileCanBeWritable) {
    wall_.writable.push_back(at("closed/file"));
    expect_works(writes(at("closed/file")), landlock::kernel_abi());
    expect_refused(makes(at("closed/new")), EACCES, landlock::kernel_abi());
}

TEST_F(WallTest, APlaceThatIsNotThereIsPassedOver) {
    wall_.writable.push_back(at("missing"));
    EXPECT_EQ(landlock::build(wall_, landlock::kernel_abi(), {}).failure, 0);
}

TEST_F(WallTest, ALinkInAPlaceIsAFailureAndNotFollowed) {
    ASSERT_EQ(::symlink(at("closed").c_str(), at("link").c_str()), 0);
    wall_.writable.push_back(at("link"));
    landlock::Built built = landlock::build(wall_, landlock::kernel_abi(), {});
    EXPECT_EQ(built.failure, ELOOP);
    EXPECT_EQ(built.failed_at, at("link"));
}

TEST_F(WallTest, WhatIsUsedCanBeWrittenButNothingMadeThere) {
    wall_.used = {at("closed")};
    expect_works(writes(at("closed/file")), landlock::kernel_abi());
    expect_refused(makes(at("closed/new")), EACCES, landlock::kernel_abi());
}

// `echo x > /dev/stderr` opens the caller's file again, which is not in any place of the jail.
TEST_F(WallTest, AnInheritedFileCanBeOpenedAgainAsItWasOpened) {
    int abi = landlock::kernel_abi();
    base::Fd writable(::open(at("closed/file").c_str(), O_WRONLY | O_CLOEXEC));
    base::Fd readable(::open(at("closed/file").c_str(), O_RDONLY | O_CLOEXEC));
    auto again = [](const base::Fd& fd) { return writes("/proc/self/fd/" + std::to_string(fd.get())); };
    EXPECT_EQ(in_child(again(writable), &wall_, abi), EACCES);
    EXPECT_EQ(in_child(again(readable), &wall_, abi, {readable.get()}), EACCES);
    EXPECT_EQ(in_child(again(readable)), 0);
    EXPECT_EQ(in_child(again(writable), &wall_, abi, {writable.get()}), 0);
}

TEST_F(WallTest, PipesAndMemoryFilesCanBeOpenedAgain) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    base::Fd reading(ends[0]), writing(ends[1]);
    base::Fd memory(::memfd_create("memory", MFD_CLOEXEC));
    for (int fd : {writing.get(), memory.get()}) {
        EXPECT_EQ(
            in_child(writes("/proc/self/fd/" + std::to_string(fd)), &wall_, landlock::kernel_abi(), {fd}), 0);
    }
}

TEST_F(WallTest, TerminalsWorkWhereDevicesAre) {
    base::Fd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_EQ(::grantpt(master.get()) | ::unlockpt(master.get()), 0);
    std::string name = ::ptsname(master.get());
    Act resizes = [&] {
        base::Fd terminal(::open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
        struct winsize size = {.ws_row = 24, .ws_col = 80};
        return terminal ? result_of(::ioctl(terminal.get(), TIOCSWINSZ, &size)) : errno;
    };
    wall_.used = {"/dev"};
    expect_works(resizes, landlock::kernel_abi());
    wall_.used = {};
    expect_refused(resizes, EACCES, landlock::kernel_abi());
}

TEST_F(WallTest, SignalsStayInsideSinceVersionSix) {
    if (!kernel_has(6)) GTEST_SKIP();
    pid_t parent = ::getpid();
    Act signals = [=] { return result_of(::kill(parent, 0)); };
    EXPECT_EQ(in_child(signals, &wall_, 5), 0);
    expect_refused(signals, EPERM, 6);
    wall_.guards_files = false;
    expect_refused(signals, EPERM, 6);
}

TEST_F(WallTest, AbstractSocketsStayInsideSinceVersionSix) {
    if (!kernel_has(6)) GTEST_SKIP();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    std::string name = "wall-test-" + std::to_string(::getpid());
    name.copy(address.sun_path + 1, sizeof address.sun_path - 2);
    socklen_t length = static_cast<socklen_t>(offsetof(struct sockaddr_un, sun_path) + 1 + name.size());
    base::Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<struct sockaddr*>(&address), length), 0);
    ASSERT_EQ(::listen(listener.get(), 8), 0);
    Act connects = [&] {
        base::Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        return result_of(::connect(client.get(), reinterpret_cast<struct sockaddr*>(&address), length));
    };
    expect_refused(connects, EPERM, 6);
}

TEST_F(WallTest, ProcessesBehindTheWallSignalEachOther) {
    expect_works(
        [] {
            pid_t sibling = ::fork();
            if (sibling == 0) {
                ::pause();
                ::_exit(0);
            }
            int sent = result_of(::kill(sibling, SIGKILL));
            ::waitpid(sibling, nullptr, 0);
            return sent;
        },
        landlock::kernel_abi());
}

TEST_F(WallTest, AWallThatIsNotWantedIsNotBuilt) {
    wall_.is_wanted = false;
    EXPECT_EQ(in_child(writes(at("closed/file")), &wall_, landlock::kernel_abi()), 0);
    EXPECT_EQ(landlock::build(wall_, landlock::kernel_abi(), {}).abi, 0);
}

}  // namespace
