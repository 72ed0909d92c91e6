// SPDX-License-Identifier: MIT
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "doorman/handoff/connect_handoff.h"
#include "jail.h"

namespace doorman {
namespace {

constexpr char kV4[] = "192.0.2.1";
constexpr char kV6[] = "2001:db8::1";
constexpr char kMapped[] = "::ffff:192.0.2.7";

AnsweredCalls handed() {
    return {.is_wanted = true, .internet = Internet::handed};
}

struct sockaddr_in v4(const char* text, uint16_t port) {
    struct sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    ::inet_pton(AF_INET, text, &address.sin_addr);
    return address;
}

struct sockaddr_in6 v6(const char* text, uint16_t port) {
    struct sockaddr_in6 address = {};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    ::inet_pton(AF_INET6, text, &address.sin6_addr);
    return address;
}

template <typename T>
int connect_to(int socket, const T& address) {
    return result_of(::connect(socket, reinterpret_cast<const struct sockaddr*>(&address), sizeof address));
}

// The bytes that the gateway sends on the connection.
bool hears(int socket, std::string_view expected) {
    char text[128];
    ssize_t got = ::recv(socket, text, sizeof text, 0);
    return got > 0 && std::string_view(text, static_cast<size_t>(got)) == expected;
}

int connects_and_hears(const char* address, uint16_t port, std::string_view expected) {
    bool is_v6 = std::strchr(address, ':') != nullptr;
    int socket = ::socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
    int number = is_v6 ? connect_to(socket, v6(address, port)) : connect_to(socket, v4(address, port));
    if (number != 0) return number;
    return hears(socket, expected) ? 0 : kUnexpected;
}

TEST(Internet, HandsConnectionsOverWithTheirDestination) {
    Jail jail(handed());
    EXPECT_EQ(jail.run([] { return connects_and_hears(kV4, 443, "tcp 192.0.2.1 443"); }), 0);
    EXPECT_EQ(jail.run([] { return connects_and_hears(kMapped, 80, "tcp 192.0.2.7 80"); }), 0);
    EXPECT_EQ(jail.run([] { return connects_and_hears(kV6, 80, "tcp 2001:db8::1 80"); }), 0);
    EXPECT_EQ(jail.run([] { return connects_and_hears("127.0.0.1", 22, "tcp 127.0.0.1 22"); }), 0);
    EXPECT_EQ(jail.run([] { return connects_and_hears("0.0.0.0", 22, "tcp 127.0.0.1 22"); }), 0);
    EXPECT_EQ(jail.notes.size(), 5u);
}

TEST(Internet, HandsOverPortsOfTheHostFromALoopbackOfItsOwn) {
    AnsweredCalls calls = handed();
    calls.owns_loopback = true;
    calls.host_ports = {5432};
    Jail jail(calls);
    EXPECT_EQ(jail.run([] { return connects_and_hears("127.0.0.1", 5432, "tcp 127.0.0.1 5432"); }), 0);
    EXPECT_EQ(jail.run([] { return connects_and_hears("::1", 5432, "tcp ::1 5432"); }), 0);
    EXPECT_EQ(jail.run([] { return connects_and_hears("::ffff:127.0.0.1", 5432, "tcp 127.0.0.1 5432"); }), 0);
    EXPECT_EQ(jail.run([] { return connects_and_hears("0.0.0.0", 5432, "tcp 127.0.0.1 5432"); }), 0);
    EXPECT_EQ(jail.notes.size(), 4u);
    for (const char* other : {"127.0.0.2", "127.0.0.1"}) {
        uint16_t port = std::string_view(other) == "127.0.0.1" ? 1 : 5432;
        EXPECT_EQ(jail.run([&] { return connects_and_hears(other, port, ""); }), ECONNREFUSED) << other;
    }
    EXPECT_EQ(jail.notes.size(), 4u);
}

TEST(Internet, ServesSocketsThatDoNotBlockAndKeepsTheirWatchers) {
    Jail jail(handed());
    EXPECT_EQ(jail.run([] {
        int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        int watch = ::epoll_create1(0);
        struct epoll_event event = {.events = EPOLLOUT | EPOLLIN | EPOLLET, .data = {}};
        ::epoll_ctl(watch, EPOLL_CTL_ADD, socket, &event);
        int number = connect_to(socket, v4(kV4, 443));
        if (number != 0 && number != EINPROGRESS) return number;
        std::string heard;
        for (int i = 0; i < 20 && heard.empty(); ++i) {
            struct epoll_event happened = {};
            if (::epoll_wait(watch, &happened, 1, 2000) != 1) return kUnexpected;
            char text[64];
            ssize_t got = ::recv(socket, text, sizeof text, 0);
            if (got > 0) heard.assign(text, static_cast<size_t>(got));
        }
        // Asking again how it went tells it, and makes no second connection.
        int again = connect_to(socket, v4(kV4, 443));
        if (again != 0 && again != EISCONN) return again;
        return heard == "tcp 192.0.2.1 443" ? 0 : kUnexpected;
    }),
              0);
    EXPECT_EQ(jail.notes.size(), 1u);
}

TEST(Internet, KeepsTheOptionsOfTheSocket) {
    Jail jail(handed());
    EXPECT_EQ(jail.run([] {
        int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        struct timeval limit = {7, 0}, seen = {};
        ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        if (connect_to(socket, v4(kV4, 443)) != 0) return kUnexpected;
        socklen_t size = sizeof seen;
        ::getsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &seen, &size);
        return seen.tv_sec == 7 && !(::fcntl(socket, F_GETFL) & O_NONBLOCK) ? 0 : kUnexpected;
    }),
              0);
}

TEST(Internet, AnswersThreadsAndChildren) {
    Jail jail(handed());
    EXPECT_EQ(jail.run([] {
        int number = kUnexpected;
        std::thread([&] { number = connects_and_hears(kV4, 1, "tcp 192.0.2.1 1"); }).join();
        if (number != 0) return number;
        pid_t child = ::fork();
        if (child == 0) ::_exit(connects_and_hears(kV4, 2, "tcp 192.0.2.1 2"));
        int status = 0;
        ::waitpid(child, &status, 0);
        return WEXITSTATUS(status);
    }),
              0);
}

TEST(Internet, AnswersAsTheKernelWould) {
    Jail jail(handed());
    EXPECT_EQ(jail.run([] { return connect_to(99, v4(kV4, 1)); }), EBADF);
    EXPECT_EQ(jail.run([] {
        int ends[2];
        (void)!::pipe(ends);
        return connect_to(ends[0], v4(kV4, 1));
    }),
              ENOTSOCK);
    EXPECT_EQ(jail.run([] {
        int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        return result_of(::connect(socket, reinterpret_cast<struct sockaddr*>(16), 16));
    }),
              EFAULT);
    EXPECT_EQ(jail.run([] {
        int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in address = v4(kV4, 1);
        return result_of(::connect(socket, reinterpret_cast<struct sockaddr*>(&address), 8));
    }),
              EINVAL);
    EXPECT_EQ(jail.run([] { return connect_to(::socket(AF_INET, SOCK_STREAM, 0), v6(kV6, 1)); }),
              EAFNOSUPPORT);
    EXPECT_EQ(jail.run([] {
        int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        return connect_to(socket, v4(kV4, 1)) == 0 ? connect_to(socket, v4(kV4, 2)) : kUnexpected;
    }),
              EISCONN);
    jail.notes.clear();
    // Disconnected, and connected again.
    EXPECT_EQ(jail.run([] {
        int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        if (connect_to(socket, v4(kV4, 1)) != 0) return kUnexpected;
        struct sockaddr_in none = {};
        if (int number = connect_to(socket, none); number != 0) return number;
        return connect_to(socket, v4(kV4, 2)) == 0 && hears(socket, "tcp 192.0.2.1 2") ? 0 : kUnexpected;
    }),
              0);
}

TEST(Internet, RefusesAllButConnectionsOfTcp) {
    struct Kind {
        int type, protocol, expected;
    };
    constexpr Kind kKinds[] = {{SOCK_DGRAM, 0, EACCES},
                               {SOCK_DGRAM, IPPROTO_ICMP, EACCES},
                               {SOCK_STREAM, 262 /* MPTCP */, EACCES},
                               {SOCK_STREAM, IPPROTO_SCTP, EACCES},
                               {SOCK_SEQPACKET, IPPROTO_SCTP, EACCES},
                               {SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, EACCES},
                               {SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP, 0}};
    Jail jail(handed());
    for (int family : {AF_INET, AF_INET6}) {
        for (const Kind& kind : kKinds) {
            EXPECT_EQ(jail.run([&] { return result_of(::socket(family, kind.type, kind.protocol)); }),
                      kind.expected)
                << kind.type << " " << kind.protocol;
        }
    }
    EXPECT_EQ(Jail::control([] { return result_of(::socket(AF_INET, SOCK_DGRAM, 0)); }), 0);
}

int listens(int family) {
    int socket = ::socket(family, SOCK_STREAM, 0);
    if (family == AF_UNIX) {
        struct sockaddr any = {};
        any.sa_family = AF_UNIX;
        (void)!::bind(socket, &any, sizeof any.sa_family);  // a name of the kernel's choice
    }
    return result_of(::listen(socket, 1));
}

TEST(Internet, LetsNobodyListen) {
    Jail jail(handed());
    EXPECT_EQ(jail.run([] { return listens(AF_INET); }), EACCES);
    EXPECT_EQ(jail.run([] { return listens(AF_INET6); }), EACCES);
    EXPECT_EQ(jail.run([] { return listens(AF_UNIX); }), 0);
    EXPECT_EQ(Jail::control([] { return listens(AF_INET); }), 0);
}

TEST(Internet, HasNoWayAroundConnecting) {
    Jail jail(handed());
    auto fast_open = [] {
        int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        struct sockaddr_in address = v4("127.0.0.1", 9);
        ssize_t sent = ::sendto(socket, "x", 1, MSG_FASTOPEN, reinterpret_cast<struct sockaddr*>(&address),
                                sizeof address);
        return sent < 0 && errno == EOPNOTSUPP ? EOPNOTSUPP : 0;
    };
    EXPECT_EQ(jail.run(fast_open), EOPNOTSUPP);
    EXPECT_EQ(Jail::control(fast_open), 0);
    auto ties = [] {
        int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        return result_of(::setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2));
    };
    EXPECT_EQ(jail.run(ties), EPERM);
    EXPECT_EQ(Jail::control(ties), 0);
    auto prefers_interface = [] {
        int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        constexpr int kUnicastInterface = 50;  // IP_UNICAST_IF
        uint32_t first = htonl(1);
        return result_of(::setsockopt(socket, IPPROTO_IP, kUnicastInterface, &first, sizeof first));
    };
    EXPECT_EQ(jail.run(prefers_interface), EPERM);
    EXPECT_EQ(Jail::control(prefers_interface), 0);
    EXPECT_EQ(jail.run([] {
        int socket = ::socket(AF_INET, SOCK_STREAM, 0), yes = 1;
        return result_of(::setsockopt(socket, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &yes, sizeof yes));
    }),
              EOPNOTSUPP);
    EXPECT_TRUE(jail.notes.empty());
}

TEST(Internet, RefusedMeansNoSocketAtAll) {
    Jail jail({.is_wanted = true, .internet = Internet::refused});
    EXPECT_EQ(jail.run([] { return result_of(::socket(AF_INET, SOCK_STREAM, 0)); }), EACCES);
    EXPECT_EQ(jail.run([] { return result_of(::socket(AF_INET6, SOCK_DGRAM, 0)); }), EACCES);
    EXPECT_EQ(jail.run([] { return result_of(::socket(AF_UNIX, SOCK_STREAM, 0)); }), 0);
}

// The address is written over while the call waits: every connection that was made must have been judged by
// what the note says, and a client must receive the note of its own connection.
TEST(Internet, IsNotFooledByAnAddressThatChanges) {
    Jail jail(handed());
    EXPECT_EQ(jail.run([] {
        struct sockaddr_in address = v4(kV4, 443);
        std::atomic<bool> is_done = false;
        std::thread flipping([&] {
            auto* port = reinterpret_cast<volatile uint16_t*>(&address.sin_port);
            while (!is_done) *port = *port == htons(443) ? htons(25) : htons(443);
        });
        int result = 0;
        for (int i = 0; i < 200 && result == 0; ++i) {
            int socket = ::socket(AF_INET, SOCK_STREAM, 0);
            result = connect_to(socket, address);
            ::close(socket);
        }
        is_done = true;
        flipping.join();
        return result;
    }),
              0);
    EXPECT_EQ(jail.notes.size(), 200u);
    for (const std::string& note : jail.notes) {
        EXPECT_TRUE(note == "tcp 192.0.2.1 443" || note == "tcp 192.0.2.1 25") << note;
    }
}

// Another process of this machine was faster.
TEST(Internet, DoesNotTakeAStrangersConnection) {
    for (const char* own_address : {"127.0.0.1", "127.0.0.9"}) {
        base::Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        struct sockaddr_in address = v4("127.0.0.1", 0), own = v4(own_address, 0);
        socklen_t size = sizeof address;
        (void)!::bind(listener.get(), reinterpret_cast<struct sockaddr*>(&address), size);
        ::listen(listener.get(), 16);
        ::getsockname(listener.get(), reinterpret_cast<struct sockaddr*>(&address), &size);
        base::Fd strangers[4];
        for (base::Fd& stranger : strangers) {
            stranger = base::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
            ASSERT_EQ(connect_to(stranger.get(), address), 0);
            ASSERT_EQ(::send(stranger.get(), "stranger", 8, 0), 8);
        }
        base::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        (void)!::bind(socket.get(), reinterpret_cast<struct sockaddr*>(&own), sizeof own);
        ASSERT_EQ(connect_to(socket.get(), address), 0);
        ASSERT_EQ(::send(socket.get(), "jailed", 6, 0), 6);
        base::Fd accepted = accept_peer_of(listener.get(), socket.get());
        ASSERT_TRUE(accepted);
        char text[16];
        ssize_t got = ::recv(accepted.get(), text, sizeof text, MSG_DONTWAIT);
        EXPECT_EQ(std::string_view(text, got > 0 ? static_cast<size_t>(got) : 0), "jailed");
        // And no other connection is taken in its place.
        base::Fd another(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        ASSERT_EQ(connect_to(another.get(), address), 0);
        EXPECT_FALSE(accept_peer_of(listener.get(), socket.get()));
    }
}

// A socket with an address of its own, and many at the same time.
TEST(Internet, HandsOverManyThatStayOpen) {
    Jail jail(handed());
    EXPECT_EQ(jail.run([] {
        for (int i = 0; i < 200; ++i) {
            int socket = ::socket(AF_INET, SOCK_STREAM, 0);
            struct sockaddr_in own = v4("127.0.0.5", 0);
            if (i % 2) (void)!::bind(socket, reinterpret_cast<struct sockaddr*>(&own), sizeof own);
            if (int number = connect_to(socket, v4(kV4, 443)); number != 0) return number;
            if (!hears(socket, "tcp 192.0.2.1 443")) return kUnexpected;
        }
        return 0;
    }),
              0);
    EXPECT_EQ(jail.notes.size(), 200u);
}

TEST(Internet, FailsWhenTheGatewayIsGone) {
    AnsweredCalls calls{.is_wanted = true, .internet = Internet::handed};
    Jail jail(calls);
    jail.close_gateway();
    EXPECT_EQ(jail.run([] { return connect_to(::socket(AF_INET, SOCK_STREAM, 0), v4(kV4, 1)); }),
              ENETUNREACH);
}

TEST(Internet, LivesThroughCallersThatAreKilled) {
    Jail jail(handed());
    EXPECT_EQ(jail.run([] {
        for (int i = 0; i < 100; ++i) {
            pid_t child = ::fork();
            if (child == 0) {
                for (;;) (void)connect_to(::socket(AF_INET, SOCK_STREAM, 0), v4(kV4, 1));
            }
            ::usleep(static_cast<useconds_t>(i * 20));
            ::kill(child, SIGKILL);
            ::waitpid(child, nullptr, 0);
        }
        return connects_and_hears(kV4, 7, "tcp 192.0.2.1 7");
    }),
              0);
}

TEST(Internet, CostsLittle) {
    Jail jail(handed());
    auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(jail.run([] {
        for (int i = 0; i < 1000; ++i) {
            int socket = ::socket(AF_INET, SOCK_STREAM, 0);
            if (int number = connect_to(socket, v4(kV4, 443)); number != 0) return number;
            ::close(socket);
        }
        return 0;
    }),
              0);
    auto spent = std::chrono::steady_clock::now() - begin;
    std::printf("%ld microseconds for a connection\n",
                std::chrono::duration_cast<std::chrono::microseconds>(spent).count() / 1000);
}

}  // namespace
}  // namespace doorman
