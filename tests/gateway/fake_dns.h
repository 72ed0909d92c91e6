// SPDX-License-Identifier: MIT
// A DNS server on a loopback address, driven by the loop under test. It records the questions.
#pragma once

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/process/event_loop.h"
#include "network/gateway/sockets.h"
#include "network/wire/dns/dns.h"

namespace network::gateway {

// Turns the loop until the condition is true. Bounded, so that a bug fails the test instead of hanging it.
inline bool run_until(base::EventLoop& loop, const std::function<bool()>& is_so,
                      std::chrono::milliseconds most = std::chrono::seconds(60)) {
    auto end = base::EventLoop::Clock::now() + most;
    while (!is_so()) {
        if (base::EventLoop::Clock::now() > end) return false;
        loop.turn(std::chrono::milliseconds(20));
    }
    return true;
}

inline bool is_type(const wire::DnsQuery& query, wire::DnsType type) {
    return query.question->type == type;
}

inline base::Fd bound_socket(int type, const std::string& address, uint16_t port) {
    SocketAddress own(Endpoint{*Address::parse(address), port});
    base::Fd socket(::socket(own.family(), type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    int only_v6 = 1;
    if (own.family() == AF_INET6)
        ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, sizeof only_v6);
    if (::bind(socket.get(), &own.any, own.length) != 0) return {};
    if (type == SOCK_STREAM) ::listen(socket.get(), 8);
    return socket;
}

class FakeDns : public base::Watcher {
  public:
    struct Question {
        std::string name;
        wire::DnsType type;
        bool is_tcp;
    };
    // Messages to send back, in order; empty for no answer.
    using Handler = std::function<std::vector<std::string>(const wire::DnsQuery&, bool is_tcp)>;

    // Port 0: selects one that is free for UDP and TCP.
    FakeDns(base::EventLoop& loop, Handler handler, const std::string& address = "127.0.0.1",
            uint16_t port = 0)
        : loop_(loop), handler_(std::move(handler)) {
        for (int i = 0; i < 50 && !tcp_; ++i) {
            udp_ = bound_socket(SOCK_DGRAM, address, port);
            if (udp_) tcp_ = bound_socket(SOCK_STREAM, address, own_endpoint(udp_.get())->port);
        }
        EXPECT_TRUE(udp_ && tcp_) << address << " port " << port;
        udp_slot_ = loop_.watch(udp_.get(), EPOLLIN, *this, 0);
        tcp_slot_ = loop_.watch(tcp_.get(), EPOLLIN, *this, 1);
    }
    ~FakeDns() override {
        loop_.forget(udp_slot_, udp_.get());
        loop_.forget(tcp_slot_, tcp_.get());
        for (auto& [number, client] : clients_) loop_.forget(client.slot, number);
    }

    uint16_t port() const { return own_endpoint(udp_.get())->port; }
    void answer_with(Handler handler) { handler_ = std::move(handler); }
    const std::vector<Question>& asked() const { return asked_; }
    // The last UDP client, for a test that answers in place of this server.
    const SocketAddress& asker() const { return asker_; }

    void on_ready(uint32_t, int which) override {
        char buffer[4096];
        if (which == 1) return accept();
        if (which > 1) return serve(which);
        for (;;) {
            asker_.length = sizeof asker_.room;
            ssize_t count = ::recvfrom(udp_.get(), buffer, sizeof buffer, 0, &asker_.any, &asker_.length);
            if (count <= 0) return;
            for (const std::string& reply : replies({buffer, static_cast<size_t>(count)}, false))
                send(reply, asker_);
        }
    }
    void send(const std::string& reply, const SocketAddress& to) {
        ::sendto(udp_.get(), reply.data(), reply.size(), 0, &to.any, to.length);
    }

  private:
    std::vector<std::string> replies(std::string_view message, bool is_tcp) {
        wire::ParsedDnsQuery parsed = wire::parse_dns_query(message);
        EXPECT_EQ(parsed.verdict, wire::DnsVerdict::query);
        asked_.push_back({parsed.query.question->name.text(), parsed.query.question->type, is_tcp});
        return handler_(parsed.query, is_tcp);
    }
    void accept() {
        base::Fd client(::accept4(tcp_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!client) return;
        int number = client.get();
        clients_[number] = {std::move(client), loop_.watch(number, EPOLLIN, *this, number)};
    }
    void serve(int number) {
        char bytes[4096];
        ssize_t count = ::recv(number, bytes, sizeof bytes, 0);
        if (count > 2) {
            for (const std::string& reply : replies({bytes + 2, static_cast<size_t>(count) - 2}, true)) {
                std::string frame = wire::dns_frame(reply);
                ::send(number, frame.data(), frame.size(), MSG_NOSIGNAL);
            }
            return;
        }
        loop_.forget(clients_[number].slot, number);
        clients_.erase(number);
    }

    struct Client {
        base::Fd socket;
        base::EventLoop::Slot slot;
    };
    base::EventLoop& loop_;
    Handler handler_;
    base::Fd udp_, tcp_;
    std::map<int, Client> clients_;  // by descriptor, which is greater than 1
    base::EventLoop::Slot udp_slot_ = nullptr, tcp_slot_ = nullptr;
    std::vector<Question> asked_;
    SocketAddress asker_;
};

}  // namespace network::gateway
