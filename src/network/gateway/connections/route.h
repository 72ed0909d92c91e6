// SPDX-License-Identifier: MIT
// From a requested target to a connected socket, or to the reason of the failure.
//
//   host.agent-sandbox.internal   the host's own loopback, for services that the user named
//   through the site's proxy      judged by name, not looked up, CONNECT
//   a name                        judged, looked up once, each address judged, the allowed ones dialled
//   a literal address             judged, dialled
//
// After connect(2) the connection is checked again: if the address is this host's own, it is closed, unless
// it is a host service that the user named. The rules are also checked again, because they may have changed
// meanwhile. A name that the user must decide about (approvals.h) waits before the first of these steps.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "network/gateway/connections/dial.h"
#include "network/gateway/context.h"
#include "rules/services.h"

namespace network::gateway {

struct Target {
    Host host;
    uint16_t port = 0;

    std::string host_text() const;
    std::string text() const;  // "name:port", "[::1]:port"
};

struct Arrival {
    Stream stream;
    std::optional<Address> address;  // empty behind a proxy
    bool is_host_service = false;
    bool is_host_port = false;  // a host service on the host's loopback: --host-port
    std::string early;          // the server's bytes so far
};

struct RouteFailure {
    enum class Kind { refused, no_such_name, unreachable, timed_out, connection_refused, proxy };
    Kind kind = Kind::unreachable;
    Verdict verdict;     // of a refusal
    std::string reason;  // of the others
    std::optional<Address> address;
};

class Route {
  public:
    // Exactly one is set. Called once, now or later. The callback must bury the route (EventLoop::bury), not
    // destroy it.
    using Done = std::function<void(std::optional<Arrival>, const RouteFailure&)>;

    Route(GatewayContext& context, const Connect& connect, const std::vector<HostService>& services,
          Target target, Done done);
    ~Route();
    Route(const Route&) = delete;
    Route& operator=(const Route&) = delete;
    void start();
    // The rules have changed: stops a route that they do not allow.
    void judge_again();
    // The route waits for the user's answer, and nothing was sent.
    bool is_held() const { return question_ != 0; }

    // The verdict that allowed it, for the record.
    const Verdict& verdict() const { return verdict_; }

  private:
    using Kind = RouteFailure::Kind;
    void ask_user(const HostName& name);
    Verdict judge(const std::optional<Address>& address) const;
    bool is_service(const std::optional<Address>& address) const;
    void go_to_host();
    void go_to_proxy(const UpstreamProxy& upstream);
    void go_to_name(const HostName& name);
    void take_addresses(const HostName& name, const Resolution& resolution);
    void dial(std::vector<Endpoint> endpoints);
    void take_dial(Dial::Result result);
    void take_tunnel(UpstreamTunnel::Result result);
    void conclude(Arrival arrival);
    void stop();
    void refuse(Verdict verdict);
    void fail(Kind kind, std::string reason);
    void finish(std::optional<Arrival> arrival, const RouteFailure& failure);

    GatewayContext& context_;
    const Connect& connect_;
    const std::vector<HostService>& services_;
    Target target_;
    Done done_;
    Verdict verdict_;
    Resolver::Ticket ticket_ = 0;
    Approvals::Ticket question_ = 0;
    const UpstreamProxy* upstream_ = nullptr;
    std::unique_ptr<Dial> dial_;
    std::unique_ptr<UpstreamTunnel> tunnel_;
};

}  // namespace network::gateway
