// SPDX-License-Identifier: MIT
// A network namespace for the test, created as bubblewrap creates it; a process in it acts as the jail.
#include "network/netns/set_up.h"
#include "base/process/descriptors.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <functional>

namespace network::netns {
namespace {

// Runs `act` in new namespaces after go(); the exit status is the act's.
class Jail {
  public:
    explicit Jail(const std::function<int()>& act) {
        int ready[2], go[2];
        EXPECT_EQ(::pipe(ready), 0);
        EXPECT_EQ(::pipe(go), 0);
        process_ = ::fork();
        if (process_ == 0) {
            char byte = 0;
            if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) ::_exit(99);
            (void)!::write(ready[1], "r", 1);
            raise_loopback();
            (void)!::read(go[0], &byte, 1);
            ::_exit(act());
        }
        char byte = 0;
        (void)!::read(ready[0], &byte, 1);
        go_ = base::Fd(go[1]);
        ::close(go[0]);
        ::close(ready[0]);
        ::close(ready[1]);
    }
    ~Jail() {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    pid_t process() const { return process_; }
    void go() const { (void)!::write(go_.get(), "g", 1); }
    int status() {
        int status = 0;
        ::waitpid(process_, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

  private:
    static void raise_loopback() {
        int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
        struct ifreq request = {};
        std::strcpy(request.ifr_name, "lo");
        ::ioctl(socket, SIOCGIFFLAGS, &request);
        request.ifr_flags |= IFF_UP;
        ::ioctl(socket, SIOCSIFFLAGS, &request);
        ::close(socket);
    }
    pid_t process_ = -1;
    base::Fd go_;
};

struct Target {
    const char* address;
    uint16_t port;
};

socklen_t fill(const Target& target, struct sockaddr_storage& storage) {
    auto* v4 = reinterpret_cast<struct sockaddr_in*>(&storage);
    auto* v6 = reinterpret_cast<struct sockaddr_in6*>(&storage);
    storage = {};
    if (::inet_pton(AF_INET, target.address, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(target.port);
        return sizeof *v4;
    }
    ::inet_pton(AF_INET6, target.address, &v6->sin6_addr);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(target.port);
    return sizeof *v6;
}

// Zero or an errno; the socket is kept open until the process ends.
int connect_to(const Target& target, int type = SOCK_STREAM) {
    struct sockaddr_storage storage;
    socklen_t length = fill(target, storage);
    int socket = ::socket(storage.ss_family, type, 0);
    return ::connect(socket, reinterpret_cast<struct sockaddr*>(&storage), length) == 0 ? 0 : errno;
}

std::string text_of(const struct sockaddr_storage& storage) {
    char text[INET6_ADDRSTRLEN] = "";
    const auto* v4 = reinterpret_cast<const struct sockaddr_in*>(&storage);
    const auto* v6 = reinterpret_cast<const struct sockaddr_in6*>(&storage);
    bool is_v4 = storage.ss_family == AF_INET;
    ::inet_ntop(storage.ss_family, is_v4 ? static_cast<const void*>(&v4->sin_addr) : &v6->sin6_addr, text,
                sizeof text);
    return std::string(text) + " " + std::to_string(ntohs(is_v4 ? v4->sin_port : v6->sin6_port));
}

// The first connection on any of the listeners.
base::Fd accept_one(const std::vector<base::Fd>& listeners) {
    std::vector<struct pollfd> watched;
    for (const base::Fd& listener : listeners) watched.push_back({listener.get(), POLLIN, 0});
    if (::poll(watched.data(), watched.size(), 60'000) <= 0) return {};
    for (const struct pollfd& one : watched) {
        if (one.revents) return base::Fd(::accept4(one.fd, nullptr, nullptr, SOCK_CLOEXEC));
    }
    return {};
}

// In the jail: answers one connection to its loopback, which shows that the listener is in its own namespace.
int answer_inside() {
    struct sockaddr_storage storage;
    socklen_t length = fill({"127.0.0.1", 4711}, storage);
    int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::bind(listener, reinterpret_cast<struct sockaddr*>(&storage), length) != 0) return 1;
    if (::listen(listener, 8) != 0) return 2;
    int accepted = ::accept(listener, nullptr, nullptr);
    return ::write(accepted, "inside", 6) == 6 ? 0 : 3;
}

// Tries until answer_inside() listens. A busy machine may need seconds for that.
std::string received_through(int connector) {
    const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (std::chrono::steady_clock::now() < latest) {
        base::Result<base::Fd> socket = connect_inside(connector, 4711, false);
        if (!socket) return socket.error().line();
        base::await_events(socket->get(), POLLIN, std::chrono::seconds(60));
        char bytes[16];
        ssize_t got = ::read(socket->get(), bytes, sizeof bytes);
        if (got > 0) return {bytes, static_cast<size_t>(got)};
        ::usleep(5'000);
    }
    return {};
}

std::string own_address(const base::Fd& socket) {
    struct sockaddr_storage storage = {};
    socklen_t length = sizeof storage;
    ::getsockname(socket.get(), reinterpret_cast<struct sockaddr*>(&storage), &length);
    return text_of(storage);
}

std::string original_destination(const base::Fd& socket) {
    struct sockaddr_storage storage = {};
    socklen_t length = sizeof storage;
    if (::getsockopt(socket.get(), SOL_IP, 80, &storage, &length) != 0) {
        length = sizeof storage;
        ::getsockopt(socket.get(), SOL_IPV6, 80, &storage, &length);
    }
    return text_of(storage);
}

TEST(SetUp, HandsEveryConnectionToOneListener) {
    for (const Target& target : {Target{"192.0.2.7", 4711}, Target{"8.8.8.8", 443}, Target{"2001:db8::9", 22},
                                 Target{"198.18.0.1", 3128}, Target{"10.0.0.1", 8080}}) {
        Jail jail([&] { return connect_to(target); });
        base::Result<Listeners> listeners = set_up(jail.process(), {});
        ASSERT_TRUE(listeners) << listeners.error().line();
        EXPECT_EQ(listeners->capture, Capture::tproxy);
        EXPECT_EQ(listeners->name_servers.size(), 2u);
        jail.go();
        base::Fd accepted = accept_one(listeners->tcp);
        ASSERT_TRUE(accepted) << target.address;
        EXPECT_EQ(own_address(accepted), std::string(target.address) + " " + std::to_string(target.port));
        EXPECT_EQ(jail.status(), 0);
    }
}

TEST(SetUp, RedirectsWhereThereIsNoTproxy) {
    for (const Target& target : {Target{"192.0.2.7", 4711}, Target{"2001:db8::9", 22}}) {
        Jail jail([&] { return connect_to(target); });
        base::Result<Listeners> listeners = set_up(jail.process(), {.best = Capture::redirect});
        ASSERT_TRUE(listeners) << listeners.error().line();
        EXPECT_EQ(listeners->capture, Capture::redirect);
        jail.go();
        base::Fd accepted = accept_one(listeners->tcp);
        ASSERT_TRUE(accepted) << target.address;
        EXPECT_EQ(original_destination(accepted),
                  std::string(target.address) + " " + std::to_string(target.port));
    }
}

TEST(SetUp, ListensPortByPortWithoutTables) {
    Jail jail([] {
        if (connect_to({"192.0.2.7", 4711}) != 0) return 1;
        return connect_to({"192.0.2.7", 4712}) == ECONNREFUSED ? 0 : 2;
    });
    base::Result<Listeners> listeners =
        set_up(jail.process(), {.tcp_ports = {4711}, .best = Capture::listeners});
    ASSERT_TRUE(listeners) << listeners.error().line();
    EXPECT_EQ(listeners->capture, Capture::listeners);
    jail.go();
    base::Fd accepted = accept_one(listeners->tcp);
    EXPECT_EQ(own_address(accepted), "192.0.2.7 4711");
    EXPECT_EQ(jail.status(), 0);
}

TEST(SetUp, LeavesTheJailItsOwnAddresses) {
    Jail jail([] {
        for (const Target& target :
             {Target{"127.0.0.1", 4711}, Target{"::1", 4711}, Target{"127.3.2.1", 4711},
              Target{"198.18.0.2", 4711}, Target{"fd61:6765:6e74::2", 4711}}) {
            if (connect_to(target) != ECONNREFUSED) return 1;
        }
        return 0;
    });
    base::Result<Listeners> listeners = set_up(jail.process(), {});
    ASSERT_TRUE(listeners) << listeners.error().line();
    jail.go();
    EXPECT_EQ(jail.status(), 0);
}

TEST(SetUp, ListensOnLoopbackForPortsOfTheHost) {
    for (Capture capture : {Capture::tproxy, Capture::redirect}) {
        for (const Target& target : {Target{"127.0.0.1", 4711}, Target{"::1", 4711}}) {
            Jail jail([&] {
                if (connect_to(target) != 0) return 1;
                struct sockaddr_storage storage;
                for (const char* address : {"127.0.0.1", "0.0.0.0"}) {
                    socklen_t length = fill({address, 4711}, storage);
                    int own = ::socket(AF_INET, SOCK_STREAM, 0);
                    int yes = 1;
                    ::setsockopt(own, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
                    ::setsockopt(own, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
                    bool is_bound = ::bind(own, reinterpret_cast<struct sockaddr*>(&storage), length) == 0 &&
                                    ::listen(own, 1) == 0;
                    if (is_bound || errno != EADDRINUSE) return 2;
                }
                return connect_to({"127.0.0.1", 4712}) == ECONNREFUSED ? 0 : 3;
            });
            base::Result<Listeners> listeners =
                set_up(jail.process(), {.loopback_ports = {4711}, .best = capture});
            ASSERT_TRUE(listeners) << listeners.error().line();
            EXPECT_EQ(listeners->capture, capture);
            EXPECT_EQ(listeners->loopback.size(), 2u);
            jail.go();
            base::Fd accepted = accept_one(listeners->loopback);
            ASSERT_TRUE(accepted) << target.address;
            EXPECT_EQ(own_address(accepted), std::string(target.address) + " 4711");
            EXPECT_EQ(jail.status(), 0);
        }
    }
}

TEST(SetUp, RefusesDatagramsAtOnceThatNobodyListensFor) {
    Jail jail([] {
        struct sockaddr_storage storage;
        socklen_t length = fill({"192.0.2.7", 443}, storage);
        int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
        if (::connect(socket, reinterpret_cast<struct sockaddr*>(&storage), length) != 0) return 1;
        if (::send(socket, "x", 1, 0) != 1) return 2;
        char byte;
        return ::recv(socket, &byte, 1, 0) < 0 && errno == ECONNREFUSED ? 0 : 3;
    });
    base::Result<Listeners> listeners = set_up(jail.process(), {.udp_ports = {123}});
    ASSERT_TRUE(listeners) << listeners.error().line();
    EXPECT_EQ(listeners->udp.size(), 2u);
    jail.go();
    EXPECT_EQ(jail.status(), 0);
}

// The namespace is entered later, through a socket that belongs to it.
TEST(Connector, IsStartedLaterFromASocketOfTheNamespace) {
    Jail jail(answer_inside);
    base::Result<Listeners> listeners = set_up(jail.process(), {});
    ASSERT_TRUE(listeners) << listeners.error().line();
    EXPECT_FALSE(listeners->connector);
    base::Result<base::Fd> connector = connector_for(
        listeners->tcp.front().get(), [](const std::vector<int>& kept) { EXPECT_EQ(kept.size(), 2u); });
    ASSERT_TRUE(connector) << connector.error().line();
    jail.go();
    EXPECT_EQ(received_through(connector->get()), "inside");
}

TEST(Connector, NeedsASocket) {
    base::Result<base::Fd> connector = connector_for(-1, {});
    ASSERT_FALSE(connector);
    EXPECT_NE(connector.error().what.find("network namespace"), std::string::npos);
}

TEST(SetUp, SaysWhatFailed) {
    base::Result<Listeners> listeners = set_up(1 << 22, {});
    ASSERT_FALSE(listeners);
    EXPECT_NE(listeners.error().what.find("/ns/net"), std::string::npos) << listeners.error().what;
}

TEST(Connector, ConnectsToTheLoopbackOfTheJail) {
    Jail jail(answer_inside);
    base::Result<Listeners> listeners = set_up(jail.process(), {.has_connector = true});
    ASSERT_TRUE(listeners) << listeners.error().line();
    ASSERT_TRUE(listeners->connector);
    jail.go();
    EXPECT_EQ(received_through(listeners->connector.get()), "inside");
}

}  // namespace
}  // namespace network::netns
