// SPDX-License-Identifier: MIT
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <limits>
#include <thread>

#include "base/temporary_directory.h"
#include "doorman/answers/abstract_names.h"
#include "jail.h"
#include "landlock/wall.h"

namespace doorman {
namespace {

using testing_support::TemporaryDirectory;

constexpr size_t kPathOffset = offsetof(struct sockaddr_un, sun_path);

struct UnixAddress {
    explicit UnixAddress(const std::string& name) {
        content.sun_family = AF_UNIX;
        std::memcpy(content.sun_path, name.data(), name.size());
        length = static_cast<socklen_t>(kPathOffset + name.size());
    }
    const struct sockaddr* get() const { return reinterpret_cast<const struct sockaddr*>(&content); }

    struct sockaddr_un content = {};
    socklen_t length = 0;
};

int binds(int socket, const std::string& name) {
    UnixAddress address(name);
    return result_of(::bind(socket, address.get(), address.length));
}

int binds(const std::string& name, int type = SOCK_STREAM) {
    return binds(::socket(AF_UNIX, type, 0), name);
}

int connects(const std::string& name, int type = SOCK_STREAM) {
    UnixAddress address(name);
    return result_of(::connect(::socket(AF_UNIX, type, 0), address.get(), address.length));
}

std::string abstract(const std::string& name) {
    return std::string(1, '\0') + "agent-sandbox-test-" + std::to_string(::getpid()) + name;
}

std::string name_of(int socket) {
    struct sockaddr_un address = {};
    socklen_t length = sizeof address;
    ::getsockname(socket, reinterpret_cast<struct sockaddr*>(&address), &length);
    return length <= kPathOffset
               ? ""
               : std::string(address.sun_path, ::strnlen(address.sun_path, length - kPathOffset));
}

// ---- refused

AnsweredCalls refusing() {
    return {.is_wanted = true, .abstract_names = AbstractNames::refused};
}

TEST(AbstractNames, AreRefusedAndTold) {
    std::vector<std::string> told;
    Jail jail(refusing(), {.on_refused_name = [&](const std::string& name) { told.push_back(name); }});
    EXPECT_EQ(jail.run([&] { return binds(abstract("a")); }), EACCES);
    EXPECT_EQ(jail.run([&] { return binds(abstract("d"), SOCK_DGRAM); }), EACCES);
    EXPECT_EQ(Jail::control([&] { return binds(abstract("a")); }), 0);
    // Trailing zeros are part of an abstract name.
    EXPECT_EQ(jail.run([&] { return binds(std::string("\0/tmp/.X11-unix/X0", 18) + std::string(20, '\0')); }),
              EACCES);
    ASSERT_EQ(told.size(), 3u);
    EXPECT_EQ(told[2], "@/tmp/.X11-unix/X0");
}

// Autobind: one of a million names.
TEST(AbstractNames, OfTheKernelsChoicePass) {
    Jail jail(refusing());
    EXPECT_EQ(jail.run([] {
        int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
        if (int number = binds(socket, ""); number != 0) return number;
        struct sockaddr_un address = {};
        socklen_t length = sizeof address;
        ::getsockname(socket, reinterpret_cast<struct sockaddr*>(&address), &length);
        return length == kPathOffset + 6 && address.sun_path[0] == '\0' ? 0 : kUnexpected;
    }),
              0);
}

TEST(AbstractNames, LeavePathsAsTheyAre) {
    TemporaryDirectory directory;
    Jail jail(refusing());
    std::string path = directory / "s";
    EXPECT_EQ(jail.run([&] {
        ::umask(027);
        int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
        if (int number = binds(socket, path); number != 0) return number;
        return name_of(socket) == path && result_of(::listen(socket, 1)) == 0 ? 0 : kUnexpected;
    }),
              0);
    struct stat status;
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_TRUE(S_ISSOCK(status.st_mode));
    EXPECT_EQ(status.st_mode & 0777, 0750u);
    EXPECT_EQ(jail.run([&] { return binds(path); }), EADDRINUSE);
    EXPECT_EQ(jail.run([&] { return binds(directory / "none/s"); }), ENOENT);
    EXPECT_EQ(jail.run([&] {
        int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
        (void)!binds(socket, directory / "once");
        return binds(socket, directory / "twice");
    }),
              EINVAL);
}

TEST(AbstractNames, LeavePathsToTheCallersDirectory) {
    TemporaryDirectory directory;
    Jail jail(refusing());
    EXPECT_EQ(jail.run([&] { return (void)!::chdir((directory / "").c_str()), binds("relative"); }), 0);
    EXPECT_TRUE(std::filesystem::is_socket(directory / "relative"));
    EXPECT_EQ(jail.run([&] {
        int place = ::open((directory / "").c_str(), O_PATH);
        ::dup2(place, 3);
        return binds("/proc/self/fd/3/by-descriptor");
    }),
              0);
    EXPECT_TRUE(std::filesystem::is_socket(directory / "by-descriptor"));
    EXPECT_EQ(jail.run([&] { return binds("/proc/self/fd/99/s"); }), ENOENT);
    // The longest path, without a NUL.
    std::string longest(sizeof(sockaddr_un::sun_path), 'n');
    EXPECT_EQ(jail.run([&] { return (void)!::chdir((directory / "").c_str()), binds(longest); }), 0);
    EXPECT_TRUE(std::filesystem::is_socket(directory / longest));
}

// The process that binds is outside the wall, and enters it for that.
TEST(AbstractNames, LeavePathsBehindTheWall) {
    int abi = landlock::kernel_abi();
    ASSERT_GT(abi, 0);
    TemporaryDirectory directory;
    std::filesystem::create_directories(directory / "open");
    std::filesystem::create_directories(directory / "closed");
    landlock::Wall wall{.writable = {directory / "open"}};
    landlock::Built built = landlock::build(wall, abi, {});
    ASSERT_EQ(built.failure, 0);
    auto enter = [&] {
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        return landlock::enter(built);
    };
    Jail jail(refusing(), {.enter_wall = enter});
    EXPECT_EQ(jail.run([&] { return binds(directory / "open/s"); }), 0);
    EXPECT_EQ(jail.run([&] { return binds(directory / "closed/s"); }), EACCES);
    EXPECT_EQ(jail.run([&] { return binds(directory / "open/../closed/s"); }), EACCES);
    EXPECT_FALSE(std::filesystem::exists(directory / "closed/s"));
    EXPECT_EQ(Jail::control([&] { return binds(directory / "closed/s"); }), 0);
}

// The address in memory changes between a path and an abstract name all the time.
TEST(AbstractNames, AreNotSmuggledInByAPathThatChanges) {
    TemporaryDirectory directory;
    std::string name = abstract("smuggled"), path = directory / "s";
    // Returns 1 as soon as an abstract name was bound, else 0.
    auto flips = [&](int times) {
        UnixAddress one(path), other(name + std::string(path.size(), '\0')), shown(path);
        other.length = shown.length = sizeof shown.content;
        std::atomic<bool> is_done = false;
        std::thread flipping([&] {
            for (int i = 0; !is_done; ++i)
                std::memcpy(&shown.content, i % 2 ? &one.content : &other.content, sizeof shown.content);
        });
        int bound = 0;
        for (int i = 0; i < times && bound == 0; ++i) {
            int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
            (void)!::bind(socket, shown.get(), shown.length);
            struct sockaddr_un got = {};
            socklen_t length = sizeof got;
            ::getsockname(socket, reinterpret_cast<struct sockaddr*>(&got), &length);
            bound += length > kPathOffset && got.sun_path[0] == '\0';
            ::unlink(path.c_str());
            ::close(socket);
        }
        is_done = true;
        flipping.join();
        return bound;
    };
    Jail jail(refusing());
    EXPECT_EQ(jail.run([&] { return flips(300); }), 0);
    EXPECT_EQ(Jail::control([&] { return flips(std::numeric_limits<int>::max()); }), 1);
}

TEST(AbstractNames, LeaveOtherFamiliesAsTheyAre) {
    Jail jail(refusing());
    struct sockaddr_in internet = {};
    internet.sin_family = AF_INET;
    internet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto binds_internet = [&] {
        int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        return result_of(::bind(socket, reinterpret_cast<struct sockaddr*>(&internet), sizeof internet));
    };
    EXPECT_EQ(jail.run(binds_internet), 0);
    AnsweredCalls handed = refusing();
    handed.internet = Internet::handed;
    EXPECT_EQ(Jail(handed).run(binds_internet), EACCES);
    EXPECT_EQ(jail.run([] {
        struct sockaddr_nl link = {};
        link.nl_family = AF_NETLINK;
        int socket = ::socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
        return result_of(::bind(socket, reinterpret_cast<struct sockaddr*>(&link), sizeof link));
    }),
              0);
    EXPECT_EQ(jail.run([&] { return binds(-1, "x"); }), EBADF);
    EXPECT_EQ(jail.run([&] { return binds(::open("/dev/null", O_RDONLY), "x"); }), ENOTSOCK);
}

// ---- apart

class PrivateAbstractNamesTest : public testing::Test {
  protected:
    void SetUp() override {
        int ends[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        channel = base::Fd(ends[0]);
        base::Fd theirs(ends[1]);
        // Not fork(): a thread sanitizer starts a thread in the child, which then can't leave its user
        // namespace.
        factory = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
        if (factory == 0) {
            channel.reset();
            int number = leave_network({});
            (void)!::send(theirs.get(), &number, sizeof number, 0);
            serve_sockets(theirs.get());
            ::_exit(0);
        }
        int number = -1;
        ASSERT_EQ(::recv(channel.get(), &number, sizeof number, 0), static_cast<ssize_t>(sizeof number));
        ASSERT_EQ(number, 0) << "no network namespace can be made here";
        calls = {.is_wanted = true,
                 .is_outside = true,
                 .abstract_names = AbstractNames::apart,
                 .socket_factory = channel.get()};
    }
    void TearDown() override {
        channel.reset();
        ::waitpid(factory, nullptr, 0);
    }

    base::Fd channel;
    pid_t factory = -1;
    AnsweredCalls calls;
};

int talks(const std::string& name, int type) {
    int server = ::socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    if (int number = binds(server, name); number != 0) return number;
    if (type != SOCK_DGRAM) ::listen(server, 1);
    UnixAddress address(name);
    int client = ::socket(AF_UNIX, type, 0);
    if (::connect(client, address.get(), address.length) != 0 || ::send(client, "x", 1, 0) != 1) return errno;
    int accepted = type == SOCK_DGRAM ? server : ::accept(server, nullptr, nullptr);
    char got = 0;
    if (::recv(accepted, &got, 1, 0) != 1 || got != 'x') return kUnexpected;
    return (::fcntl(server, F_GETFD) & FD_CLOEXEC) && !(::fcntl(client, F_GETFD) & FD_CLOEXEC) ? 0
                                                                                               : kUnexpected;
}

TEST_F(PrivateAbstractNamesTest, NamesAreFoundInsideAlone) {
    for (int type : {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM}) {
        int seen = -1;
        Jail jail(calls);
        std::string name = abstract("apart" + std::to_string(type));
        // While the jail's socket is bound, a program outside does not find it.
        jail.meanwhile = [&](pid_t) { seen = connects(name, type); };
        EXPECT_EQ(jail.run([&] { return talks(name, type); }), 0) << type;
        EXPECT_EQ(seen, ECONNREFUSED);
    }
}

TEST_F(PrivateAbstractNamesTest, NamesOutsideAreNotFound) {
    base::Fd outside(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    std::string name = abstract("outside");
    ASSERT_EQ(binds(outside.get(), name), 0);
    ::listen(outside.get(), 5);
    Jail jail(calls);
    EXPECT_EQ(jail.run([&] { return connects(name); }), ECONNREFUSED);
    EXPECT_EQ(Jail::control([&] { return connects(name); }), 0);
    // The name is free inside.
    EXPECT_EQ(jail.run([&] { return binds(name); }), 0);
    EXPECT_EQ(Jail::control([&] { return binds(name); }), EADDRINUSE);
}

// A pair of datagram sockets can be taken apart, and bound.
TEST_F(PrivateAbstractNamesTest, PairsAreApartToo) {
    Jail jail(calls);
    std::string name = abstract("pair");
    base::Fd outside(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(binds(outside.get(), name), 0);
    auto binds_pair = [&] {
        int ends[2] = {-1, -1};
        if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends) != 0) return errno;
        bool is_pair = ::send(ends[0], "x", 1, 0) == 1 && (::fcntl(ends[0], F_GETFL) & O_NONBLOCK);
        char got = 0;
        if (!is_pair || ::recv(ends[1], &got, 1, 0) != 1 || got != 'x') return kUnexpected;
        return binds(ends[0], name);
    };
    EXPECT_EQ(jail.run(binds_pair), 0);
    EXPECT_EQ(Jail::control(binds_pair), EADDRINUSE);
    // The address for the two numbers is not mapped.
    EXPECT_EQ(jail.run([] {
        int before = ::dup(0);
        ::close(before);
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        long returned = ::syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, reinterpret_cast<int*>(8));
        int number = result_of(returned);
        return ::dup(0) == before ? number : kUnexpected;
    }),
              EFAULT);
}

TEST_F(PrivateAbstractNamesTest, ErrorsAreTheKernels) {
    Jail jail(calls);
    auto makes = [](int type, int protocol) {
        return [=] { return result_of(::socket(AF_UNIX, type, protocol)); };
    };
    for (auto [type, protocol] :
         {std::pair{int{SOCK_STREAM}, 77}, std::pair{9, 0}, std::pair{int{SOCK_RDM}, 0}})
        EXPECT_EQ(jail.run(makes(type, protocol)), Jail::control(makes(type, protocol))) << type;
    EXPECT_EQ(jail.run([] {
        struct rlimit limit = {8, 8};
        ::setrlimit(RLIMIT_NOFILE, &limit);
        while (::dup(0) >= 0) continue;
        return result_of(::socket(AF_UNIX, SOCK_STREAM, 0));
    }),
              EMFILE);
}

TEST_F(PrivateAbstractNamesTest, PathsAndOtherFamiliesAreTheKernels) {
    TemporaryDirectory directory;
    Jail jail(calls);
    base::Fd outside(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(binds(outside.get(), directory / "outside"), 0);
    ::listen(outside.get(), 5);
    EXPECT_EQ(jail.run([&] { return connects(directory / "outside"); }), 0);
    EXPECT_EQ(jail.run([&] { return talks(directory / "inside", SOCK_STREAM); }), 0);
    EXPECT_EQ(jail.run([] { return result_of(::socket(AF_INET, SOCK_STREAM, 0)); }), 0);
}

// The answers to the calls before it come late, and none of them is taken for its own.
TEST_F(PrivateAbstractNamesTest, AFactoryThatPausesFailsOnlyTheCallsMeanwhile) {
    Jail jail(calls);
    auto makes_pair = [] {
        int ends[2];
        return result_of(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    };
    auto makes_datagrams = [] {
        int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
        if (socket < 0) return errno;
        int type = 0;
        socklen_t size = sizeof type;
        ::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size);
        return type == SOCK_DGRAM ? 0 : kUnexpected;
    };
    ::kill(factory, SIGSTOP);
    EXPECT_EQ(jail.run(makes_pair), EAGAIN);
    EXPECT_EQ(jail.run(makes_pair), EAGAIN);
    ::kill(factory, SIGCONT);
    int number = EAGAIN;
    for (int tries = 0; tries < 100 && number == EAGAIN; ++tries) number = jail.run(makes_datagrams);
    EXPECT_EQ(number, 0);
    EXPECT_EQ(jail.run(makes_pair), 0);
}

TEST_F(PrivateAbstractNamesTest, WithoutAFactoryNoSocketIsMade) {
    ::kill(factory, SIGKILL);
    ::waitpid(factory, nullptr, 0);
    Jail jail(calls);
    EXPECT_EQ(jail.run([] { return result_of(::socket(AF_UNIX, SOCK_STREAM, 0)); }), EACCES);
}

}  // namespace
}  // namespace doorman
