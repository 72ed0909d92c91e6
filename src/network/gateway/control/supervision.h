// SPDX-License-Identifier: MIT
// The gateway's end of the socket to its supervisor (messages.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/process/descriptors.h"
#include "base/result.h"
#include "network/exchange/tokens.h"
#include "network/gateway/connections/acceptor.h"
#include "network/gateway/context.h"
#include "network/gateway/control/messages.h"
#include "network/gateway/control/publish.h"
#include "network/gateway/datagrams/datagrams.h"
#include "network/gateway/names/name_server.h"
#include "network/requests/rules.h"
#include "network/tls/authority.h"

namespace network::gateway {

// The current rules for a host, as text for programs in the jail. A file in the jail has the rules as they
// were at the start. This answer includes later changes and the user's answers (approvals.h).

// A complete HTTP response. `subject` has the syntax of rules/rules_text.h and is untrusted.
std::string explanation(const GatewayContext& context, const std::string& subject, bool answers_head);

// Changes and inspects a running gateway. New rules replace the old ones in one step of the loop, and all
// open connections are judged by them in the same step. Rules that cannot be applied change nothing.

// The rules that the other parts refer to.
struct Rules {
    Engine& engine;
    Egress& egress;  // with the UDP ports that have a listener
    // The same for TCP, sorted. Nothing: the gateway receives connections to all ports.
    std::optional<std::vector<uint16_t>> tcp_ports;
};

class Steering {
  public:
    Steering(GatewayContext& context, Rules rules, Acceptor& acceptor, Datagrams& datagrams,
             NameServer& name_server)
        : context_(context),
          rules_(std::move(rules)),
          acceptor_(acceptor),
          datagrams_(datagrams),
          name_server_(name_server) {}

    // The rules about requests, and an intermediate certificate if they name further hosts.
    struct RequestChange {
        requests::RequestSettings settings;
        std::optional<tls::Intermediate> intermediate;
    };
    // `text` is as in rules/rules_text.h. Returns how many connections and flows were closed. On an error
    // nothing has changed.
    base::Result<size_t> renew(std::string_view text, std::optional<RequestChange> requests = std::nullopt);
    // A JSON object: connections (kMostListed at most) and pending, both the oldest that fit,
    // connection_count, refused.
    static constexpr size_t kMostListed = 256;
    static constexpr size_t kConnectionBytes = 34u << 10;
    static constexpr size_t kPendingBytes = 22u << 10;
    std::string state() const;

  private:
    base::Status check_ports(const Egress& wanted) const;

    GatewayContext& context_;
    Rules rules_;
    Acceptor& acceptor_;
    Datagrams& datagrams_;
    NameServer& name_server_;
};

class Supervision : public base::Watcher {
  public:
    Supervision(GatewayContext& context, base::Fd control);
    ~Supervision() override;

    void say(std::string_view message) const;
    // Through a pipe, because the gateway can't make a file.
    void pass_tokens(const exchange::NewTokens& issued, bool is_login) const;
    // Carries out the supervisor's orders while the gateway serves.
    void steer(Steering* steering) { steering_ = steering; }
    // Publishes ports on orders. `inside` is a socket of the jail's network, or -1.
    void publish_by(Publish* publish, int inside) {
        publish_ = publish;
        inside_ = inside;
    }

    // The host may have moved to another network. The confined gateway cannot read its files again.
    void ask_for_files();

    void on_ready(uint32_t events, int which) override;
    // False if the supervisor died.
    bool is_asked_to_end() const { return is_asked_; }

  private:
    void end(bool is_asked);
    void obey(const Order& order, std::vector<base::Fd>& descriptors);
    Reply renew_rules(uint64_t ticket, const std::vector<base::Fd>& files) const;
    base::Result<size_t> read_rules(const std::vector<base::Fd>& files) const;
    Reply write_state(uint64_t ticket, int file) const;
    void pass_socket(uint64_t ticket) const;
    Reply publish(const Order& order, std::vector<base::Fd>& descriptors) const;
    Reply unpublish(const Order& order) const;
    void renew_files(const std::vector<base::Fd>& descriptors) const;
    void take_value(const Order& order, const std::vector<base::Fd>& descriptors) const;
    void take_certificate(const std::vector<base::Fd>& descriptors) const;

    GatewayContext& context_;
    base::Fd control_;
    base::EventLoop::Slot slot_;
    Steering* steering_ = nullptr;
    Publish* publish_ = nullptr;
    int inside_ = -1;
    bool is_asked_ = false;
    base::EventLoop::Clock::time_point next_request_;
};

}  // namespace network::gateway
