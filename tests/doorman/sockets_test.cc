// SPDX-License-Identifier: MIT
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "base/temporary_directory.h"
#include "jail.h"

namespace doorman {
namespace {

using testing_support::TemporaryDirectory;

int connects(int socket, const std::string& path) {
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    socklen_t length = static_cast<socklen_t>(offsetof(struct sockaddr_un, sun_path) + path.size());
    // An abstract name is as long as it says.
    if (path[0] != '\0') length = sizeof address;
    return result_of(::connect(socket, reinterpret_cast<struct sockaddr*>(&address), length));
}

int connects(const std::string& path) {
    return connects(::socket(AF_UNIX, SOCK_STREAM, 0), path);
}

base::Fd serve(const std::string& path, int backlog = 1000) {
    base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    (void)!::bind(socket.get(), reinterpret_cast<struct sockaddr*>(&address),
                  static_cast<socklen_t>(offsetof(struct sockaddr_un, sun_path) + path.size()));
    ::listen(socket.get(), backlog);
    return socket;
}

size_t visitors(const base::Fd& server) {
    size_t count = 0;
    while (base::Fd(::accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC))) ++count;
    return count;
}

// Two servers of the test: one where the jail may go, one where it may not.
struct World {
    World() {
        ::mkdir((directory / "open").c_str(), 0700);
        ::mkdir((directory / "closed").c_str(), 0700);
        calls.is_wanted = calls.guards_sockets = true;
        calls.sockets = {directory / "open"};
        allowed = serve(good());
        forbidden = serve(bad());
    }
    std::string good() const { return directory / "open/s"; }
    std::string bad() const { return directory / "closed/s"; }

    TemporaryDirectory directory;
    AnsweredCalls calls;
    base::Fd allowed, forbidden;
};

TEST(Sockets, ReachOnlyWhatIsAllowed) {
    World world;
    Jail jail(world.calls);
    EXPECT_EQ(jail.run([&] { return connects(world.good()); }), 0);
    EXPECT_EQ(visitors(world.allowed), 1u);
    EXPECT_EQ(jail.run([&] { return connects(world.bad()); }), EACCES);
    EXPECT_EQ(jail.run([&] { return connects(world.directory / "open/../closed/s"); }), EACCES);
    EXPECT_EQ(jail.run([&] { return connects(world.directory / "open/none"); }), ENOENT);
    EXPECT_EQ(visitors(world.forbidden), 0u);
    EXPECT_EQ(Jail::control([&] { return connects(world.bad()); }), 0);
    EXPECT_EQ(visitors(world.forbidden), 1u);
}

TEST(Sockets, AreFoundAsTheCallerWritesThem) {
    World world;
    Jail jail(world.calls);
    EXPECT_EQ(jail.run([&] { return (void)!::chdir((world.directory / "open").c_str()), connects("s"); }), 0);
    EXPECT_EQ(
        jail.run([&] { return (void)!::chdir((world.directory / "open").c_str()), connects("../closed/s"); }),
        EACCES);
    EXPECT_EQ(jail.run([&] {
        int directory = ::open((world.directory / "open").c_str(), O_PATH);
        return connects("/proc/self/fd/" + std::to_string(directory) + "/s");
    }),
              0);
    EXPECT_EQ(jail.run([&] {
        int directory = ::open((world.directory / "closed").c_str(), O_PATH);
        return connects("/proc/self/fd/" + std::to_string(directory) + "/s");
    }),
              EACCES);
    EXPECT_EQ(visitors(world.forbidden), 0u);
}

TEST(Sockets, AreJudgedByWhereLinksLead) {
    World world;
    ASSERT_EQ(::symlink(world.bad().c_str(), (world.directory / "open/link").c_str()), 0);
    ASSERT_EQ(::symlink(world.good().c_str(), (world.directory / "closed/link").c_str()), 0);
    Jail jail(world.calls);
    EXPECT_EQ(jail.run([&] { return connects(world.directory / "open/link"); }), EACCES);
    EXPECT_EQ(jail.run([&] { return connects(world.directory / "closed/link"); }), 0);
    EXPECT_EQ(visitors(world.forbidden), 0u);
}

// What the path names changes all the time.
TEST(Sockets, AreNotFooledByALinkThatChanges) {
    World world;
    Jail jail(world.calls);
    EXPECT_EQ(jail.run([&] {
        std::string link = world.directory / "open/link", next = world.directory / "open/next";
        std::atomic<bool> is_done = false;
        std::thread flipping([&] {
            for (int i = 0; !is_done; ++i) {
                (void)!::symlink((i % 2 ? world.good() : world.bad()).c_str(), next.c_str());
                ::rename(next.c_str(), link.c_str());
            }
        });
        int reached = 0;
        for (int i = 0; i < 300; ++i) {
            int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
            reached += connects(socket, link) == 0;
            ::close(socket);
        }
        is_done = true;
        flipping.join();
        return reached > 0 ? 0 : kUnexpected;
    }),
              0);
    EXPECT_EQ(visitors(world.forbidden), 0u);
    EXPECT_GT(visitors(world.allowed), 0u);
}

// The address in memory and the descriptor change all the time.
TEST(Sockets, AreNotFooledByMemoryOrDescriptorsThatChange) {
    World world;
    Jail jail(world.calls);
    EXPECT_EQ(jail.run([&] {
        struct sockaddr_un one = {}, other = {}, shown = {};
        one.sun_family = other.sun_family = AF_UNIX;
        std::strcpy(one.sun_path, world.good().c_str());
        std::strcpy(other.sun_path, world.bad().c_str());
        shown = one;
        std::atomic<bool> is_done = false;
        std::atomic<int> current = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        std::thread flipping([&] {
            for (int i = 0; !is_done; ++i) {
                ::memcpy(&shown, i % 2 ? &one : &other, sizeof shown);
                int fresh = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
                ::dup2(fresh, current);
                ::close(fresh);
            }
        });
        int reached = 0;
        for (int i = 0; i < 500; ++i) {
            reached += ::connect(current, reinterpret_cast<struct sockaddr*>(&shown), sizeof shown) == 0;
        }
        is_done = true;
        flipping.join();
        return reached > 0 ? 0 : kUnexpected;
    }),
              0);
    EXPECT_EQ(visitors(world.forbidden), 0u);
}

TEST(Sockets, HaveNoDatagrams) {
    World world;
    Jail jail(world.calls);
    auto makes = [](int type) { return [type] { return result_of(::socket(AF_UNIX, type, 0)); }; };
    auto pairs = [](int type) {
        return [type] {
            int ends[2];
            return result_of(::socketpair(AF_UNIX, type, 0, ends));
        };
    };
    for (int type : {int{SOCK_DGRAM}, int{SOCK_RAW}, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK}) {
        EXPECT_EQ(jail.run(makes(type)), EACCES);
        EXPECT_EQ(jail.run(pairs(type)), EACCES);
        EXPECT_EQ(Jail::control(makes(type)), 0);
    }
    for (int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
        EXPECT_EQ(jail.run(makes(type)), 0);
        EXPECT_EQ(jail.run(pairs(type)), 0);
    }
    // One that was inherited.
    base::Fd inherited(::socket(AF_UNIX, SOCK_DGRAM, 0));
    EXPECT_EQ(jail.run([&] { return connects(inherited.get(), world.good()); }), EACCES);
}

TEST(Sockets, WithoutAFileAreNotReached) {
    World world;
    std::string name = std::string(1, '\0') + "agent-sandbox-test-" + std::to_string(::getpid());
    base::Fd outside = serve(name);
    EXPECT_EQ(Jail(world.calls).run([&] { return connects(name); }), ECONNREFUSED);
    EXPECT_EQ(visitors(outside), 0u);
    EXPECT_EQ(Jail::control([&] { return connects(name); }), 0);
    EXPECT_EQ(visitors(outside), 1u);
}

// While the address changes between an abstract name and a path.
TEST(Sockets, AreNotFooledByANameThatBecomesAPath) {
    World world;
    Jail jail(world.calls);
    EXPECT_EQ(jail.run([&] {
        struct sockaddr_un shown = {};
        shown.sun_family = AF_UNIX;
        std::strcpy(shown.sun_path, world.bad().c_str());
        std::atomic<bool> is_done = false;
        std::thread flipping([&] {
            auto* first = reinterpret_cast<volatile char*>(shown.sun_path);
            while (!is_done) *first = *first == '/' ? '\0' : '/';
        });
        int reached = 0;
        for (int i = 0; i < 300; ++i) {
            int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
            reached += ::connect(socket, reinterpret_cast<struct sockaddr*>(&shown), sizeof shown) == 0;
            ::close(socket);
        }
        is_done = true;
        flipping.join();
        return reached == 0 ? 0 : kUnexpected;
    }),
              0);
    EXPECT_EQ(visitors(world.forbidden), 0u);
}

// A server whose queue is full lets a client wait that wants to, and no other call waits with it: the queue
// is emptied only when the other has arrived.
TEST(Sockets, WaitForABusyServer) {
    World world;
    base::Fd busy = serve(world.directory / "open/busy", 0);
    ASSERT_EQ(connects(world.directory / "open/busy"), 0);
    Jail jail(world.calls);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    size_t others = 0;
    jail.meanwhile = [&](pid_t) {
        others += visitors(world.allowed);
        if (others > 0 || std::chrono::steady_clock::now() > patience) (void)visitors(busy);
    };
    EXPECT_EQ(jail.run([&] {
        int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (connects(socket, world.directory / "open/busy") != EAGAIN) return kUnexpected;
        std::thread other([&] {
            ::usleep(20'000);
            connects(world.good());
        });
        int number = connects(world.directory / "open/busy");
        other.join();
        return number;
    }),
              0);
    EXPECT_LT(std::chrono::steady_clock::now(), patience);
}

TEST(Sockets, OfTheInternetConnectFreelyWhereTheNetworkIsTheHosts) {
    World world;
    base::Fd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    struct sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    (void)!::bind(server.get(), reinterpret_cast<struct sockaddr*>(&address), size);
    ::listen(server.get(), 0);
    ::getsockname(server.get(), reinterpret_cast<struct sockaddr*>(&address), &size);
    auto connects_there = [&] {
        int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        return result_of(::connect(socket, reinterpret_cast<struct sockaddr*>(&address), sizeof address));
    };
    Jail jail(world.calls);
    EXPECT_EQ(jail.run(connects_there), 0);
    // Its queue is full now: the kernel tries again after a second, and the client waits as long.
    auto begin = std::chrono::steady_clock::now();
    jail.meanwhile = [&](pid_t) {
        if (std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(100))
            ::fcntl(server.get(), F_SETFL, O_NONBLOCK), (void)visitors(server);
    };
    EXPECT_EQ(jail.run([&] {
        for (int i = 0; i < 3; ++i) {
            if (int number = connects_there(); number != 0) return number;
        }
        return 0;
    }),
              0);
    server.reset();
    jail.meanwhile = nullptr;
    EXPECT_EQ(jail.run(connects_there), ECONNREFUSED);
}

}  // namespace
}  // namespace doorman
