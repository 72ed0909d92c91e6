// SPDX-License-Identifier: MIT
// The TCP side of a gateway between clients and servers of the test, all on loopback and in one thread. The
// hosts file gives names public addresses, and Dial's test hook redirects these to servers of the test.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "base/encoding/json.h"
#include "base/text.h"
#include "fake_dns.h"
#include "network/gateway/connections/acceptor.h"
#include "network/gateway/context.h"
#include "network/gateway/control/supervision.h"
#include "network/gateway/datagrams/datagrams.h"
#include "network/gateway/names/name_server.h"
#include "network/gateway/relay/relay.h"
#include "network/wire/bytes.h"
#include "network/wire/tls.h"
#include "rules/rules_text.h"

namespace network::gateway {

inline size_t open_descriptors() {
    auto all = std::filesystem::directory_iterator("/proc/self/fd");
    return static_cast<size_t>(std::distance(begin(all), end(all)));
}

// `act` returns how long it took. The best of many tries counts, because the processors may be busy.
inline void expect_within(std::chrono::milliseconds limit,
                          const std::function<base::EventLoop::Clock::duration()>& act) {
    auto least = base::EventLoop::Clock::duration::max();
    for (int tries = 0; tries < 50 && least >= limit; ++tries) least = std::min(least, act());
    EXPECT_LT(least, limit);
}

// One end of a connection, not blocking.
class Peer {
  public:
    Peer() = default;
    explicit Peer(base::Fd socket) : socket_(std::move(socket)) {}

    int fd() const { return socket_.get(); }
    explicit operator bool() const { return bool(socket_); }
    void close() { socket_.reset(); }
    void end_writing() { ::shutdown(fd(), SHUT_WR); }
    void reset() {
        struct linger at_once = {.l_onoff = 1, .l_linger = 0};
        ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close();
    }

    size_t send(std::string_view bytes) {
        ssize_t sent = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        return sent > 0 ? static_cast<size_t>(sent) : 0;
    }
    // Reads everything that has arrived.
    void poll() {
        char bytes[65536];
        while (!has_ended && !was_reset) {
            ssize_t count = ::recv(fd(), bytes, sizeof bytes, 0);
            if (count > 0) received.append(bytes, static_cast<size_t>(count));
            if (count == 0) has_ended = true;
            if (count < 0 && errno != EAGAIN) was_reset = true;
            if (count < 0) return;
        }
    }

    std::string received;
    bool has_ended = false;
    bool was_reset = false;

  private:
    base::Fd socket_;
};

inline base::Fd connect_to_loopback(uint16_t port) {
    SocketAddress address(Endpoint{Address::from_v4({127, 0, 0, 1}), port});
    base::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), &address.any, address.length) != 0) return {};
    ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
    return socket;
}

// Two ends of one TCP connection.
inline std::pair<base::Fd, base::Fd> tcp_pair() {
    base::Fd listener = bound_socket(SOCK_STREAM, "127.0.0.1", 0);
    base::Fd near = connect_to_loopback(own_endpoint(listener.get())->port);
    base::Fd far(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    return {std::move(near), std::move(far)};
}

class TcpWorld {
  public:
    explicit TcpWorld(Egress wanted = {}) : egress_(std::move(wanted)), engine_(made(egress_.rules)) {
        EXPECT_TRUE(loop_.open());
        server_ = bound_socket(SOCK_STREAM, "127.0.0.1", 0);
        ::listen(server_.get(), 512);
        listener_ = bound_socket(SOCK_STREAM, "127.0.0.1", 0);
        journal_file_ = base::Fd(::memfd_create("journal", MFD_CLOEXEC));
        journal_.emplace(audit::Writer(base::Fd(::dup(journal_file_.get())), "", "", 0));
        approvals_.emplace(loop_, engine_, egress_, *journal_);
        resolver_.emplace(loop_, ResolverFiles{.hosts = hosts(), .resolv_conf = "nameserver 127.0.0.1\n"});
        context_.emplace(GatewayContext{loop_, engine_, egress_, names_, *resolver_, *journal_, *approvals_});
        name_server_.emplace(*context_);
        datagrams_.emplace(*context_);
        acceptor_.emplace(*context_, *name_server_,
                          [this](int socket, const Endpoint& to) { return lead(socket, to); });
    }

    // Sends new rules, as the supervisor does.
    base::Result<size_t> renew(const EngineSettings& settings,
                               std::optional<std::vector<uint16_t>> tcp_ports = std::nullopt) {
        return steering(std::move(tcp_ports)).renew(encode_settings(settings, {}));
    }
    base::Json state() { return *base::Json::parse(steering().state()); }
    Steering steering(std::optional<std::vector<uint16_t>> tcp_ports = std::nullopt) {
        return Steering(*context_, {engine_, egress_, std::move(tcp_ports)}, *acceptor_, *datagrams_,
                        *name_server_);
    }

    static std::string hosts() {
        return "203.0.113.10 example.org www.example.org\n203.0.113.11 other.example\n"
               "203.0.113.12 closed.example\n10.1.2.3 inner.example\n203.0.113.13 blocked.example\n"
               "203.0.113.14 silent.example\n203.0.113.10 first.example\n203.0.113.14 twin.example\n"
               "2001:db8::10 twin.example\n";
    }

    base::EventLoop& loop() { return loop_; }
    GatewayContext& context() { return *context_; }
    Acceptor& acceptor() { return *acceptor_; }
    void close_acceptor() { acceptor_.reset(); }
    Journal& journal() { return *journal_; }
    const std::vector<Endpoint>& dialled() const { return dialled_; }
    uint16_t server_port() const { return own_endpoint(server_.get())->port; }

    // The address that a name has inside, at a port.
    Endpoint inside(std::string_view name, uint16_t port) {
        return {names_.addresses_of(*HostName::parse(name))->v4, port};
    }
    static Endpoint gateway(uint16_t port = 3128) { return {fixed_v4(Fixed::gateway), port}; }
    static Endpoint literal(std::string_view address, uint16_t port) {
        return {*Address::parse(address), port};
    }

    Peer connect(const Endpoint& destination) {
        base::Fd near = connect_to_loopback(own_endpoint(listener_.get())->port);
        base::Fd far(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        acceptor_->admit(std::move(far), destination);
        return Peer(std::move(near));
    }

    Peer accept() {
        base::Fd accepted;
        EXPECT_TRUE(until([&] {
            accepted = base::Fd(::accept4(server_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
            return bool(accepted);
        })) << "no connection came to the server";
        return Peer(std::move(accepted));
    }
    bool has_client() {
        turn();
        base::Fd accepted(::accept4(server_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        return bool(accepted);
    }

    bool until(const std::function<bool()>& is_so) { return run_until(loop_, is_so); }
    void turn(int times = 5) {
        for (int i = 0; i < times; ++i) loop_.turn(std::chrono::milliseconds(1));
    }
    bool hears(Peer& peer, std::string_view text) {
        return until([&] {
                   peer.poll();
                   return peer.received.find(text) != std::string::npos || peer.has_ended || peer.was_reset;
               }) &&
               peer.received.find(text) != std::string::npos;
    }
    bool is_ended(Peer& peer) {
        return until([&] { return peer.poll(), peer.has_ended || peer.was_reset; }) && peer.has_ended;
    }
    bool is_reset(Peer& peer) {
        return until([&] { return peer.poll(), peer.has_ended || peer.was_reset; }) && peer.was_reset;
    }
    bool is_empty() {
        return until([&] { return acceptor_->connections() == 0; });
    }

    std::string lines() const {
        std::string text(1 << 16, '\0');
        ssize_t size = ::pread(journal_file_.get(), text.data(), text.size(), 0);
        text.resize(size > 0 ? static_cast<size_t>(size) : 0);
        return text;
    }

    // Lines of one kind.
    std::vector<base::Json> records(std::string_view kind) const {
        std::vector<base::Json> found;
        std::string text = lines();
        for (std::string_view line : base::split(text, '\n')) {
            if (line.empty()) continue;
            base::Json read = *base::Json::parse(line);
            if (read.text("kind") == kind) found.push_back(std::move(read));
        }
        return found;
    }

  private:
    static Engine made(const EngineSettings& settings) {
        auto engine = Engine::make(settings);
        EXPECT_TRUE(engine.ok()) << (engine.ok() ? "" : engine.error().line());
        return *engine;
    }

    int lead(int socket, const Endpoint& to) {
        dialled_.push_back(to);
        if (to.address == *Address::parse("203.0.113.12")) return errno = ECONNREFUSED, -1;
        if (to.address == *Address::parse("203.0.113.14")) {
            return connect_socket(socket, {Address::from_v4({127, 0, 0, 1}), silent_port()});
        }
        Endpoint real{Address::from_v4({127, 0, 0, 1}), server_port()};
        if (to.address.is_v4()) return connect_socket(socket, real);
        // An IPv6 socket reaches an IPv4 server by the mapped address.
        SocketAddress mapped;
        mapped.v6.sin6_family = AF_INET6;
        mapped.v6.sin6_port = htons(real.port);
        std::copy_n(real.address.bytes().begin(), 16, mapped.v6.sin6_addr.s6_addr);
        return ::connect(socket, &mapped.any, sizeof mapped.v6);
    }

    // A server whose accept queue is full: later clients get no answer.
    uint16_t silent_port() {
        if (!silent_) {
            silent_ = bound_socket(SOCK_STREAM, "127.0.0.1", 0);
            ::listen(silent_.get(), 0);
            for (base::Fd& waiting : queue_) {
                waiting = base::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
                connect_socket(waiting.get(), *own_endpoint(silent_.get()));
            }
        }
        return own_endpoint(silent_.get())->port;
    }

    Egress egress_;
    Engine engine_;
    base::EventLoop loop_;
    base::Fd server_, listener_, journal_file_, silent_, queue_[3];
    std::vector<Endpoint> dialled_;
    Names names_;
    std::optional<Journal> journal_;
    std::optional<Approvals> approvals_;
    std::optional<Resolver> resolver_;
    std::optional<GatewayContext> context_;
    std::optional<NameServer> name_server_;
    std::optional<Datagrams> datagrams_;
    std::optional<Acceptor> acceptor_;
};

inline std::vector<config::Item> items(std::initializer_list<const char*> texts) {
    std::vector<config::Item> list;
    for (const char* text : texts) list.push_back({text, config::from_flag("--test")});
    return list;
}

// A TLS hello with or without a server name.
inline std::string client_hello(std::string_view server_name, bool has_encrypted_hello = false) {
    auto vector16 = [](std::string_view content) {
        std::string bytes;
        wire::append_u16(bytes, static_cast<unsigned>(content.size()));
        return bytes.append(content);
    };
    auto extension = [&](unsigned type, std::string_view content) {
        std::string bytes;
        wire::append_u16(bytes, type);
        return bytes + vector16(content);
    };
    std::string extensions;
    if (!server_name.empty())
        extensions += extension(0, vector16(std::string(1, '\0') + vector16(server_name)));
    if (has_encrypted_hello) extensions += extension(0xfe0d, "sealed");
    std::string body = "\x03\x03" + std::string(32, 'r') + std::string(1, '\0') + vector16("\x13\x01") +
                       std::string("\x01\x00", 2) + vector16(extensions);
    std::string handshake(2, '\0');
    handshake[0] = '\x01';
    handshake += vector16(body);
    return "\x16\x03\x01" + vector16(handshake);
}

inline std::string get(std::string_view host, std::string_view path = "/", std::string_view fields = "") {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: " + std::string(host) + "\r\n" +
           std::string(fields) + "\r\n";
}

}  // namespace network::gateway
