// SPDX-License-Identifier: MIT
// The wall that is the only protection, so it restricts reading too. Each claim is tested behind it, with
// every version up to the kernel's, and in front of it as a control.
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

#include "base/temporary_directory.h"
#include "landlock/wall.h"

namespace {

using landlock::Wall;
using Act = std::function<int()>;  // zero or an errno

int result_of(long returned) {
    return returned >= 0 ? 0 : errno;
}

// CAP_PERFMON lets a process read the environment of other processes even if ptrace is refused, in current
// kernels. The stage drops every capability, and so does this test.
void give_up_capabilities() {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
    ::syscall(SYS_capset, &header, none);
}

int in_child(const Act& act, const Wall* wall, int abi, const std::vector<int>& reopened) {
    pid_t child = ::fork();
    if (child == 0) {
        give_up_capabilities();
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (wall != nullptr) {
            landlock::Built built = landlock::build(*wall, abi, reopened);
            if (built.failure != 0 || built.abi != abi || landlock::enter(built) != 0) ::_exit(255);
        }
        ::_exit(act());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
}

Act reads(const std::string& path) {
    return [=] { return result_of(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); };
}
Act lists(const std::string& path) {
    return [=] { return result_of(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); };
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
// Executing a script needs no loader: if its interpreter is missing, exec passes the wall and fails with
// ENOENT.
Act executes(const std::string& path) {
    return [=] {
        char* words[] = {const_cast<char*>(path.c_str()), nullptr};
        ::execve(path.c_str(), words, words + 1);
        return errno == ENOENT ? 0 : errno;
    };
}
Act connects(const struct sockaddr_in& address) {
    return [=] {
        base::Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        return result_of(
            ::connect(client.get(), reinterpret_cast<const struct sockaddr*>(&address), sizeof address));
    };
}

class JailWallTest : public testing::Test {
  protected:
    void SetUp() override {
        if (landlock::kernel_abi() < 1) GTEST_SKIP() << "this kernel has no Landlock";
        for (const char* name : {"seen", "seen/sub", "open", "open/sub", "closed"})
            ASSERT_EQ(::mkdir(at(name).c_str(), 0700), 0);
        for (const char* name : {"seen/file", "seen/sub/file", "open/file", "closed/file"}) put(name);
        wall_.guards_reading = true;
        wall_.readable = {at("seen")};
        wall_.writable = {at("open")};
    }
    std::string at(const std::string& name) const { return directory_ / name; }
    void put(const std::string& name) const {
        base::Fd file(::open(at(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700));
        ASSERT_TRUE(base::write_all(file.get(), "#!/no/such/interpreter\n"));
    }
    int behind(const Act& act, int abi, const std::vector<int>& reopened = {}) const {
        return in_child(act, &wall_, abi, reopened);
    }
    int in_front(const Act& act) const { return in_child(act, nullptr, 0, {}); }
    void expect_refused(const Act& act, int abi, int number = EACCES) const {
        EXPECT_EQ(behind(act, abi), number) << "behind, ABI " << abi;
        EXPECT_EQ(in_front(act), 0) << "in front, ABI " << abi;
    }
    void expect_works(const Act& act, int abi) const { EXPECT_EQ(behind(act, abi), 0) << "ABI " << abi; }
    static void with_every_version(const std::function<void(int)>& claims) {
        for (int abi = 1; abi <= landlock::kernel_abi(); ++abi) claims(abi);
    }

    testing_support::TemporaryDirectory directory_;
    Wall wall_;
};

TEST_F(JailWallTest, WhatIsNotGivenCanNeitherBeReadNorListedNorExecuted) {
    with_every_version([&](int abi) {
        expect_refused(reads(at("closed/file")), abi);
        expect_refused(lists(at("closed")), abi);
        expect_refused(executes(at("closed/file")), abi);
        expect_refused(lists("/"), abi);
        expect_refused(reads("/etc/passwd"), abi);
    });
}

TEST_F(JailWallTest, WhatIsReadableCanBeReadListedAndExecutedAndNothingMore) {
    with_every_version([&](int abi) {
        expect_works(reads(at("seen/sub/file")), abi);
        expect_works(lists(at("seen/sub")), abi);
        expect_works(executes(at("seen/sub/file")), abi);
        std::string name = at("seen/new" + std::to_string(abi));
        expect_refused(writes(at("seen/file")), abi);
        expect_refused(makes(name), abi);
        expect_refused([&] { return result_of(::unlink(name.c_str())); }, abi);
    });
}

TEST_F(JailWallTest, WhatIsWritableCanBeUsedForEverything) {
    with_every_version([&](int abi) {
        std::string name = at("open/new" + std::to_string(abi));
        for (const Act& act : {reads(at("open/file")), lists(at("open")), executes(at("open/file")),
                               writes(at("open/file")), makes(name), moves(name, name + "-moved")})
            expect_works(act, abi);
        expect_works([&] { return result_of(::unlink((name + "-moved").c_str())); }, abi);
        expect_works([&] { return result_of(::mkdir(name.c_str(), 0700)); }, abi);
    });
}

// Version 1 lacks this right and refuses every move between directories; programs copy instead.
TEST_F(JailWallTest, MovesBetweenDirectoriesNeedVersionTwo) {
    with_every_version([&](int abi) {
        put("open/file");
        EXPECT_EQ(behind(moves(at("open/file"), at("open/sub/file")), abi), abi >= 2 ? 0 : EXDEV) << abi;
        EXPECT_NE(behind(moves(at("open/file"), at("seen/file2")), abi), 0) << abi;
    });
    put("open/file");
    EXPECT_EQ(in_front(moves(at("open/file"), at("seen/file2"))), 0);
}

// A hidden file can't get another name in an allowed place.
TEST_F(JailWallTest, AClosedFileCantBeLinkedIntoAnOpenPlace) {
    with_every_version([&](int abi) {
        std::string name = at("open/hard" + std::to_string(abi));
        Act links = [&] { return result_of(::link(at("closed/file").c_str(), name.c_str())); };
        EXPECT_NE(behind(links, abi), 0) << abi;
        EXPECT_EQ(in_front(links), 0);
        // A symbolic link can be created, but opening it is refused.
        std::string soft = at("open/soft" + std::to_string(abi));
        expect_works([&] { return result_of(::symlink(at("closed/file").c_str(), soft.c_str())); }, abi);
        expect_refused(reads(soft), abi);
    });
}

TEST_F(JailWallTest, TruncatingIsGuardedSinceVersionThree) {
    with_every_version([&](int abi) {
        EXPECT_EQ(behind(truncates(at("seen/file")), abi), abi >= 3 ? EACCES : 0) << abi;
        expect_works(truncates(at("open/file")), abi);
    });
    EXPECT_EQ(in_front(truncates(at("seen/file"))), 0);
}

TEST_F(JailWallTest, ADeviceIsUsedAndNotMade) {
    wall_.used = {"/dev/null"};
    with_every_version([&](int abi) {
        expect_works(writes("/dev/null"), abi);
        expect_works(reads("/dev/null"), abi);
        expect_refused(reads("/dev/zero"), abi);
    });
}

TEST_F(JailWallTest, ASingleFileCanBeGiven) {
    wall_.readable.push_back(at("closed/file"));
    with_every_version([&](int abi) {
        expect_works(reads(at("closed/file")), abi);
        expect_refused(lists(at("closed")), abi);
        expect_refused(writes(at("closed/file")), abi);
    });
}

TEST_F(JailWallTest, TcpIsRefusedSinceVersionFourWhereThatIsAsked) {
    base::Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<struct sockaddr*>(&address), length), 0);
    ASSERT_EQ(::listen(listener.get(), 64), 0);
    ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<struct sockaddr*>(&address), &length), 0);
    Act binds = [] {
        base::Fd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
        return result_of(::bind(server.get(), reinterpret_cast<struct sockaddr*>(&any), sizeof any));
    };
    with_every_version([&](int abi) {
        wall_.refuses_tcp = false;
        expect_works(connects(address), abi);
        expect_works(binds, abi);
        wall_.refuses_tcp = true;
        EXPECT_EQ(behind(connects(address), abi), abi >= 4 ? EACCES : 0) << abi;
        EXPECT_EQ(behind(binds, abi), abi >= 4 ? EACCES : 0) << abi;
    });
}

TEST_F(JailWallTest, SignalsStayInsideSinceVersionSix) {
    pid_t parent = ::getpid();
    with_every_version([&](int abi) {
        EXPECT_EQ(behind([=] { return result_of(::kill(parent, 0)); }, abi), abi >= 6 ? EPERM : 0) << abi;
    });
}

// Since the first version, and regardless of file modes.
TEST_F(JailWallTest, NoMemoryOfAProcessOutsideCanBeRead) {
    wall_.readable.emplace_back("/proc");
    int prepared[2];
    ASSERT_EQ(::pipe2(prepared, O_CLOEXEC), 0);
    pid_t outside = ::fork();
    if (outside == 0) {
        give_up_capabilities();
        ::prctl(PR_SET_DUMPABLE, 1);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::close(prepared[0]);
        ::close(prepared[1]);
        for (;;) ::pause();
    }
    // The end of the pipe shows that the process has no capabilities left: with them, no test could read it.
    ::close(prepared[1]);
    char byte = 0;
    ASSERT_EQ(::read(prepared[0], &byte, 1), 0);
    ::close(prepared[0]);
    std::string process = "/proc/" + std::to_string(outside);
    static long secret = 42;
    Act copies = [=] {
        long copy = 0;
        struct iovec here = {&copy, sizeof copy}, there = {&secret, sizeof secret};
        return result_of(::process_vm_readv(outside, &here, 1, &there, 1, 0));
    };
    Act traces = [=] {
        if (::ptrace(PTRACE_SEIZE, outside, nullptr, nullptr) != 0) return errno;
        ::ptrace(PTRACE_DETACH, outside, nullptr, nullptr);
        return 0;
    };
    with_every_version([&](int abi) {
        expect_works(reads(process + "/status"), abi);
        expect_refused(reads(process + "/environ"), abi);
        expect_refused(reads(process + "/mem"), abi);
        expect_refused(lists(process + "/root"), abi);
        expect_refused(copies, abi, EPERM);
        expect_refused(traces, abi, EPERM);
    });
    ::kill(outside, SIGKILL);
    ::waitpid(outside, nullptr, 0);
}

TEST_F(JailWallTest, AnInheritedFileCanBeOpenedAgainAsItWasOpened) {
    base::Fd readable(::open(at("closed/file").c_str(), O_RDONLY | O_CLOEXEC));
    wall_.readable.emplace_back("/proc");
    std::string again = "/proc/self/fd/" + std::to_string(readable.get());
    with_every_version([&](int abi) {
        EXPECT_EQ(behind(reads(again), abi), EACCES);
        EXPECT_EQ(behind(reads(again), abi, {readable.get()}), 0);
        EXPECT_EQ(behind(writes(again), abi, {readable.get()}), EACCES);
    });
}

// A directory as standard input must not give access to the files below it.
TEST_F(JailWallTest, AnInheritedDirectoryGivesNothing) {
    base::Fd directory(::open(at("closed").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    with_every_version(
        [&](int abi) { EXPECT_EQ(behind(reads(at("closed/file")), abi, {directory.get()}), EACCES); });
}

TEST_F(JailWallTest, ALinkInAPlaceIsAFailureAndNotFollowed) {
    ASSERT_EQ(::symlink(at("closed").c_str(), at("link").c_str()), 0);
    wall_.readable.push_back(at("link"));
    EXPECT_EQ(landlock::build(wall_, landlock::kernel_abi(), {}).failure, ELOOP);
}

// This wall is the only one: on a kernel without Landlock nothing may run.
TEST_F(JailWallTest, WithoutLandlockItFails) {
    EXPECT_EQ(landlock::build(wall_, 0, {}).failure, ENOSYS);
}

}  // namespace
