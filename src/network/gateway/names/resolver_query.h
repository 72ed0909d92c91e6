// SPDX-License-Identifier: MIT
// One query to the host's resolvers, one resolver after the other until one answers.
//
// The query is sent over UDP from a new socket, with a port of the kernel's choice and a random id. The
// socket is connected, so that only that server's datagrams arrive. An answer with another id or question is
// a forgery and is ignored while the time runs. A truncated answer is requested again over TCP. If a server
// refuses, fails, sends nonsense or does not answer, the next one is tried at once. Each round tries all
// servers, and all rounds together have a fixed time limit.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "base/process/event_loop.h"
#include "network/wire/dns/dns_lookup.h"
#include "rules/address.h"
#include "rules/names/name.h"

namespace network::gateway {

// Parses /etc/hosts and /etc/resolv.conf. Lines that cannot be used are skipped, as the C library does. These
// files belong to the host: a name that resolves on the host must resolve here too. Pure.

// Addresses in the order of the file, IPv4 first.
using HostsTable = std::unordered_map<HostName, std::vector<Address>>;
HostsTable parse_hosts(std::string_view text);

struct ServerSettings {
    static constexpr size_t kMostServers = 3;
    static constexpr int kMostSeconds = 5;
    static constexpr int kMostRounds = 3;

    std::vector<Address> servers;  // never empty
    uint16_t port = 53;
    std::chrono::milliseconds time_per_try{2000};
    int rounds = 2;
    bool rotates = false;
};
// Search domains are for the resolvers inside the jail. A server with a zone (fe80::1%eth0) is skipped.
ServerSettings parse_resolv_conf(std::string_view text);

class ResolverQuery : public base::Watcher {
  public:
    static constexpr std::chrono::milliseconds kLongest{10'000};

    struct Outcome {
        bool is_answered = false;  // with addresses, without any, or with "no such name"
        wire::DnsReply reply;
        std::string message;  // the reply as received
        std::string reason;   // if no server answered: "no answer from 10.0.0.53"
    };
    // Called once, never from within start(). The query may be destroyed after the callback has returned, not
    // in it.
    using Done = std::function<void(Outcome)>;

    ResolverQuery(base::EventLoop& loop, std::shared_ptr<const ServerSettings> settings,
                  wire::DnsQuestion question, bool has_edns, Done done);
    ~ResolverQuery() override;
    ResolverQuery(const ResolverQuery&) = delete;
    ResolverQuery& operator=(const ResolverQuery&) = delete;

    void start(size_t first_server);
    void on_ready(uint32_t events, int which) override;

  private:
    enum class Step { idle, udp, tcp_connecting, tcp_reading };

    const Address& server() const;
    void try_next(std::string reason);
    bool open_udp();
    void open_tcp();
    void read_udp();
    void send_tcp();
    void read_tcp();
    void take(std::string message);
    bool renew_id();
    void open(base::Fd socket, uint32_t events);
    void close();
    void restart_timer();
    void finish(Outcome outcome);

    base::EventLoop& loop_;
    std::shared_ptr<const ServerSettings> settings_;
    wire::DnsQuestion question_;
    bool has_edns_;
    Done done_;

    Step step_ = Step::idle;
    size_t first_server_ = 0;
    size_t tries_ = 0;
    uint16_t id_ = 0;
    base::Fd socket_;
    base::EventLoop::Slot slot_ = nullptr;
    base::EventLoop::TimerId try_timer_ = 0;
    base::EventLoop::TimerId whole_timer_ = 0;
    std::string received_;  // over TCP
    std::string reason_;    // why the last server did not help
};

}  // namespace network::gateway
