// SPDX-License-Identifier: MIT
// One question to the host's resolvers, one after the other until one answers.
//
// Order: over UDP, from a fresh socket with a port of the kernel's choice and a random id, connected, so that
// only that server's datagrams arrive; an answer with another id or question is a forger's and is passed over
// while the time runs; a cut answer is asked for again over TCP; a server that refuses, fails, makes no sense
// or stays silent is followed by the next one at once. All servers in each round, and all rounds within a
// fixed time.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "base/file.h"
#include "network/gateway/loop.h"
#include "network/gateway/resolver_files.h"
#include "network/wire/dns_lookup.h"

namespace network::gateway {

class ResolverQuery : public Watcher {
  public:
    static constexpr std::chrono::milliseconds kLongest{10'000};

    struct Outcome {
        bool is_answered = false;  // with addresses, with none, or with "no such name"
        wire::DnsReply reply;
        std::string message;  // the reply as it came
        std::string reason;   // where nobody answered: "no answer from 10.0.0.53"
    };
    // Called once, never from within start(). The query may be destroyed after the call has returned, not in
    // it.
    using Done = std::function<void(Outcome)>;

    ResolverQuery(Loop& loop, std::shared_ptr<const ServerSettings> settings, wire::DnsQuestion question,
                  bool has_edns, Done done);
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

    Loop& loop_;
    std::shared_ptr<const ServerSettings> settings_;
    wire::DnsQuestion question_;
    bool has_edns_;
    Done done_;

    Step step_ = Step::idle;
    size_t first_server_ = 0;
    size_t tries_ = 0;
    uint16_t id_ = 0;
    base::Fd socket_;
    Loop::Slot slot_ = nullptr;
    Loop::TimerId try_timer_ = 0;
    Loop::TimerId whole_timer_ = 0;
    std::string received_;  // over TCP
    std::string reason_;    // why the last server was no use
};

}  // namespace network::gateway
