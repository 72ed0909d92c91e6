// SPDX-License-Identifier: MIT
#include "network/gateway/connections/route.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/parse.h"
#include "base/text.h"

namespace network::gateway {
namespace {

const Address& loopback_v4() {
    static const Address address = Address::from_v4({127, 0, 0, 1});
    return address;
}

const Address& loopback_v6() {
    static const Address address = Address::from_v6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    return address;
}

RouteFailure::Kind kind_of(int error) {
    switch (error) {
        case ECONNREFUSED:
            return RouteFailure::Kind::connection_refused;
        case ETIMEDOUT:
            return RouteFailure::Kind::timed_out;
        default:
            return RouteFailure::Kind::unreachable;
    }
}

}  // namespace

std::string Target::host_text() const {
    const auto* name = std::get_if<HostName>(&host);
    return name != nullptr ? name->str() : std::get<Address>(host).str();
}

std::string Target::text() const {
    return base::with_port(host_text(), port);
}

Route::Route(GatewayContext& context, const Connect& connect, const std::vector<HostService>& services,
             Target target, Done done)
    : context_(context),
      connect_(connect),
      services_(services),
      target_(std::move(target)),
      done_(std::move(done)) {}

Route::~Route() {
    // A route that is done may be destroyed after the resolver.
    stop();
}

void Route::stop() {
    if (ticket_ != 0) context_.resolver.cancel(ticket_);
    if (question_ != 0) context_.approvals.cancel(question_);
    dial_.reset();
    tunnel_.reset();
    upstream_ = nullptr;
}

void Route::judge_again() {
    // Approvals judges the held routes itself.
    if (is_held()) return;
    Verdict verdict = judge(std::nullopt);
    if (verdict.is_allowed()) return;
    stop();
    start();
}

// Judges the name alone, or the name and its address if one is known.
Verdict Route::judge(const std::optional<Address>& address) const {
    const auto* name = std::get_if<HostName>(&target_.host);
    if (name != nullptr && address) return context_.engine.decide_resolved(*name, *address, target_.port);
    return context_.engine.decide({target_.host, target_.port, Transport::tcp});
}

void Route::ask_user(const HostName& name) {
    if (std::optional<Verdict> obstacle = context_.approvals.obstacle_to({name, target_.port}))
        return refuse(std::move(*obstacle));
    question_ = context_.approvals.hold({name, target_.port}, [this](const std::optional<Verdict>& refusal) {
        question_ = 0;
        refusal ? refuse(*refusal) : start();
    });
}

bool Route::is_service(const std::optional<Address>& address) const {
    return std::ranges::any_of(services_, [&](const HostService& service) {
        return service.port == target_.port && service.address == address;
    });
}

void Route::start() {
    verdict_ = judge(std::nullopt);
    const auto* name = std::get_if<HostName>(&target_.host);
    if (verdict_.decision == Decision::ask && name != nullptr) return ask_user(*name);
    if (!verdict_.is_allowed()) return refuse(verdict_);
    if (name != nullptr && name->str() == kHostServiceName) return go_to_host();
    const auto* address = std::get_if<Address>(&target_.host);
    const std::optional<UpstreamProxy>& upstream = context_.egress.upstream;
    bool is_chained = upstream && (name != nullptr ? upstream->is_for(*name) : upstream->is_for(*address));
    if (is_chained && !(address != nullptr && is_service(*address))) return go_to_proxy(*upstream);
    if (name != nullptr) return go_to_name(*name);
    dial({{*address, target_.port}});
}

void Route::go_to_host() {
    // Whatever the rules for names are, this name reaches only services that the user named.
    if (!is_service(std::nullopt)) {
        return refuse({.cause = Cause::address_floor,
                       .reason = base::format("port {} of the host is not opened", target_.port),
                       .advice = "if it is needed, run with --host-port " + std::to_string(target_.port),
                       .change = "--host-port " + std::to_string(target_.port)});
    }
    dial({{loopback_v4(), target_.port}, {loopback_v6(), target_.port}});
}

void Route::go_to_proxy(const UpstreamProxy& upstream) {
    upstream_ = &upstream;
    base::Result<Host> host = parse_host(upstream.host);
    if (!host) return fail(Kind::proxy, "the site's proxy has no usable name");
    if (const auto* address = std::get_if<Address>(&*host)) return dial({{*address, upstream.port}});
    ticket_ =
        context_.resolver.look_up(std::get<HostName>(*host), [this, &upstream](const Resolution& resolution) {
            ticket_ = 0;
            std::vector<Endpoint> endpoints;
            for (const Address& address : resolution.addresses) endpoints.push_back({address, upstream.port});
            if (endpoints.empty())
                return fail(Kind::proxy, "the site's proxy has no address: " + resolution.reason);
            dial(std::move(endpoints));
        });
}

void Route::go_to_name(const HostName& name) {
    Resolver::Ticket ticket = context_.resolver.look_up(
        name, [this, &name](const Resolution& resolution) { take_addresses(name, resolution); });
    if (ticket != 0) ticket_ = ticket;
}

void Route::take_addresses(const HostName& name, const Resolution& resolution) {
    ticket_ = 0;
    switch (resolution.outcome) {
        case Resolution::Outcome::found:
            break;
        case Resolution::Outcome::no_such_name:
            return fail(Kind::no_such_name, "there is no such name");
        case Resolution::Outcome::no_address:
            return fail(Kind::no_such_name, "the name has no address");
        case Resolution::Outcome::failed:
            return fail(Kind::unreachable, "the name could not be looked up: " + resolution.reason);
    }
    std::vector<Endpoint> good;
    std::optional<Verdict> closed;
    for (const Address& address : resolution.addresses) {
        Verdict verdict = context_.engine.decide_resolved(name, address, target_.port);
        if (verdict.is_allowed()) {
            good.push_back({address, target_.port});
        } else if (!closed) {
            closed = std::move(verdict);
        }
    }
    if (!good.empty()) return dial(std::move(good));
    if (closed) return refuse(std::move(*closed));
    fail(Kind::no_such_name, "the name has no address");
}

void Route::dial(std::vector<Endpoint> endpoints) {
    dial_ = std::make_unique<Dial>(context_.loop, connect_, std::move(endpoints),
                                   [this](Dial::Result result) { take_dial(std::move(result)); });
    dial_->start();
}

void Route::take_dial(Dial::Result result) {
    context_.loop.bury(std::move(dial_));
    if (!result.stream) {
        std::string whom = upstream_ != nullptr ? "the site's proxy" : target_.text();
        std::string reason = base::format("{} could not be reached: {}", whom, std::strerror(result.error));
        return fail(upstream_ != nullptr ? Kind::proxy : kind_of(result.error), std::move(reason));
    }
    if (upstream_ != nullptr) {
        tunnel_ = std::make_unique<UpstreamTunnel>(
            context_.loop, std::move(result.stream), *upstream_, target_.text(),
            [this](UpstreamTunnel::Result opened) { take_tunnel(std::move(opened)); });
        return tunnel_->start();
    }
    const auto* name = std::get_if<HostName>(&target_.host);
    bool is_host = name != nullptr && name->str() == kHostServiceName;
    Arrival arrival{.address = result.endpoint.address,
                    .is_host_service = is_host || is_service(result.endpoint.address),
                    .is_host_port = is_host};
    if (!arrival.is_host_service) {
        std::optional<Endpoint> own = own_endpoint(result.stream.fd());
        if (!own || own->address == result.endpoint.address) {
            return refuse({.cause = Cause::address_floor,
                           .rule = result.endpoint.address.str(),
                           .reason = "the address is this host's own",
                           .advice = "if it is needed, open its port with --host-port"});
        }
    }
    arrival.stream = std::move(result.stream);
    conclude(std::move(arrival));
}

void Route::take_tunnel(UpstreamTunnel::Result result) {
    context_.loop.bury(std::move(tunnel_));
    if (!result.stream) return fail(Kind::proxy, result.reason);
    conclude(Arrival{.stream = std::move(result.stream), .early = std::move(result.early)});
}

void Route::conclude(Arrival arrival) {
    Verdict verdict = judge(arrival.address);
    if (verdict.decision == Decision::ask) return start();
    if (!verdict.is_allowed()) return refuse(std::move(verdict));
    verdict_ = std::move(verdict);
    finish(std::move(arrival), {});
}

void Route::refuse(Verdict verdict) {
    verdict.decision = Decision::deny;
    finish(std::nullopt, {.kind = Kind::refused, .verdict = std::move(verdict)});
}

void Route::fail(Kind kind, std::string reason) {
    finish(std::nullopt, {.kind = kind, .reason = std::move(reason)});
}

void Route::finish(std::optional<Arrival> arrival, const RouteFailure& failure) {
    Done done = std::move(done_);
    done(std::move(arrival), failure);
}

}  // namespace network::gateway
