// SPDX-License-Identifier: MIT
// One connection of the jail, from accept to the line in the journal:
//
//   the requested target (by address, or as a proxy) → may it be opened, and to which address (route.h) →
//   bytes, the client's judged (relay.h, client_filter.h) → a line in the journal
//
// or at any step a refusal (refusal.h). Each step is an object that owns the client's socket while it works.
// A Connection only passes the socket from one step to the next.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "network/gateway/broker/interception.h"
#include "network/gateway/connections/dial.h"
#include "network/gateway/connections/proxy_frontend.h"
#include "network/gateway/connections/refusal.h"
#include "network/gateway/connections/route.h"
#include "network/gateway/context.h"
#include "network/gateway/names/dns_stream.h"
#include "network/gateway/names/name_server.h"
#include "network/gateway/relay/relay.h"

namespace network::gateway {

class Connection;

// What all connections share.
struct ConnectionContext {
    GatewayContext& context;
    NameServer& name_server;
    Connect connect;
    std::vector<HostService> services;
    PipePool pipes;
    uint64_t last_id = 0;                    // of a connection
    std::function<void(Connection&)> leave;  // buries the connection
};

// Translates the address that a client connected to: into a name, the host, or the address itself. A verdict
// if a synthetic address has no name.
struct Translation {
    std::optional<Target> target;
    Verdict verdict;
};
Translation translate(const Names& names, const Host& host, uint16_t port);

class Connection : public base::Watcher {
  public:
    Connection(ConnectionContext& shared, Stream client, const Endpoint& destination);
    void start();

    // While the route is being made: detects that the client has left.
    void on_ready(uint32_t events, int which) override;
    // Once a second: ends a connection that waits too long.
    void sweep(base::EventLoop::Clock::time_point now);
    // The session ends while the connection is open: writes its line now.
    void record_unfinished();

    // The rules have changed. True: they do not allow this connection, and it was closed.
    bool judge_again();
    // Status for `inspect` and `monitor`. Nothing before a target is known or while the connection is being
    // refused.
    std::optional<ConnectionFacts> facts() const;

  private:
    void serve_proxy();
    void serve_names();
    void take_request(Stream client, ProxyRequest request);
    void take_fault(Stream client, const ProxyFault& fault);
    void open(const Translation& asked);
    bool intercept();
    void end_interception();
    Entry interception_entry() const;
    void arrive(Arrival arrival);
    void end_relay(const Relay::Counts& counts);
    void record_relay(const Relay::Counts& counts) const;
    void object(const Relay::Counts& counts);
    Verdict verdict_now() const;
    bool is_read_now() const;
    std::unique_ptr<Guard> guard_for(const Arrival& arrival);
    bool passes_unread(const Verdict& raw) const;
    Translation target_of(const Host& host, uint16_t port) const;
    void close_for(const Verdict& verdict);
    void explain(Stream client, const std::string& subject, bool answers_head);
    void lose_client(std::string_view reason);

    void refuse(const Verdict& verdict);
    void fail(const RouteFailure& failure);
    void answer(RefusalWords words, wire::Socks5Code code);
    void speak(std::unique_ptr<Refusal> refusal) { refusal_ = std::move(refusal); }
    void leave() { shared_.leave(*this); }
    void record(Entry entry) const;

    ConnectionContext& shared_;
    base::EventLoop& loop_;
    Stream client_;  // empty while one of the steps below owns it
    Endpoint destination_;
    base::EventLoop::Clock::time_point began_;
    uint64_t id_;

    ClientProtocol protocol_ = ClientProtocol::transparent;
    bool answers_head_ = false;
    std::string said_;  // bytes of a proxy's client that follow its request
    std::optional<Target> target_;
    std::optional<Address> dialled_;
    std::vector<HostName> opened_names_;  // Expectation::opened_names
    bool is_host_port_ = false;           // Arrival::is_host_port
    bool is_raw_ = false;                 // a rule allows it: the client's bytes are not read
    size_t said_by_us_ = 0;               // bytes to the client before the server's first byte
    Verdict verdict_;

    std::unique_ptr<ProxyFrontend> proxy_;
    std::unique_ptr<DnsStream> names_;
    std::unique_ptr<Route> route_;
    std::unique_ptr<Relay> relay_;
    std::unique_ptr<Interception> interception_;
    std::unique_ptr<Refusal> refusal_;

    base::EventLoop::Clock::time_point waiting_since_;
    bool is_waiting_ = false;
    unsigned verdicts_ = 0;  // at the start of the wait
};

}  // namespace network::gateway
