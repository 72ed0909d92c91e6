// SPDX-License-Identifier: MIT
#include "network/gateway/connections/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/inside/addresses.h"
#include "base/text.h"
#include "network/gateway/control/supervision.h"
#include "network/wire/http/http_exchange.h"

namespace network::gateway {
namespace {

using std::chrono::seconds;

constexpr seconds kFirstFlight{10};  // from the first byte to the verdict
constexpr seconds kProxyIdle{60};    // until the first byte of a request to the proxy

// The replies to a client whose route failed.
struct FailureRow {
    RouteFailure::Kind kind;
    int http_status;
    wire::Socks5Code socks_code;
};
constexpr FailureRow kFailures[] = {
    {RouteFailure::Kind::refused, 403, wire::Socks5Code::not_allowed},
    {RouteFailure::Kind::no_such_name, 502, wire::Socks5Code::host_unreachable},
    {RouteFailure::Kind::unreachable, 502, wire::Socks5Code::host_unreachable},
    {RouteFailure::Kind::timed_out, 504, wire::Socks5Code::host_unreachable},
    {RouteFailure::Kind::connection_refused, 502, wire::Socks5Code::connection_refused},
    {RouteFailure::Kind::proxy, 502, wire::Socks5Code::general_failure},
};

// Allowed by the rules, and not only because of network.observe.
bool is_opened(const Verdict& verdict) {
    return verdict.is_allowed() && !verdict.is_observed;
}

// The client has closed its sending side, or the whole connection is closed.
bool has_ended(const Stream& client) {
    struct tcp_info information = {};
    socklen_t size = sizeof information;
    if (::getsockopt(client.fd(), IPPROTO_TCP, TCP_INFO, &information, &size) != 0) return false;
    return information.tcpi_state == TCP_CLOSE_WAIT || information.tcpi_state == TCP_CLOSE;
}

const FailureRow& row_of(RouteFailure::Kind kind) {
    for (const FailureRow& row : kFailures) {
        if (row.kind == kind) return row;
    }
    return kFailures[0];
}

}  // namespace

Translation translate(const Names& names, const Host& host, uint16_t port) {
    const auto* address = std::get_if<Address>(&host);
    if (address == nullptr || !Names::is_ours(*address)) return {.target = Target{host, port}};
    if (is_fixed(*address, Fixed::host)) return {.target = Target{*HostName::parse(kHostServiceName), port}};
    if (const HostName* name = names.name_of(*address)) return {.target = Target{*name, port}};
    return {.verdict = {.cause = Cause::literal,
                        .rule = address->str(),
                        .reason = "the address belongs to the sandbox's gateway and stands for no name",
                        .advice = "look the name up again"}};
}

Connection::Connection(ConnectionContext& shared, Stream client, const Endpoint& destination)
    : shared_(shared),
      loop_(shared.context.loop),
      client_(std::move(client)),
      destination_(destination),
      began_(base::EventLoop::Clock::now()),
      id_(++shared.last_id),
      waiting_since_(began_) {}

// Inside, the ports of --host-port are on loopback too, as programs expect them.
Translation Connection::target_of(const Host& host, uint16_t port) const {
    const auto* address = std::get_if<Address>(&host);
    bool is_host_port = address != nullptr && leads_to_host_port(shared_.services, *address, port);
    if (is_host_port) return {.target = Target{*HostName::parse(kHostServiceName), port}};
    return translate(shared_.context.names, host, port);
}

void Connection::start() {
    bool is_host_port = leads_to_host_port(shared_.services, destination_.address, destination_.port);
    if (!is_host_port && destination_.port == base::kNameServerPort) return serve_names();
    if (is_fixed(destination_.address, Fixed::gateway)) return serve_proxy();
    client_.watch(*this);
    open(target_of(destination_.address, destination_.port));
}

void Connection::serve_names() {
    names_ = std::make_unique<DnsStream>(loop_, shared_.name_server, std::move(client_), [this] { leave(); });
}

void Connection::serve_proxy() {
    proxy_ = std::make_unique<ProxyFrontend>(
        std::move(client_),
        ProxyFrontend::Calls{
            .about = [this](Stream client, const std::string& subject,
                            bool answers_head) { explain(std::move(client), subject, answers_head); },
            .asked = [this](Stream client,
                            ProxyRequest request) { take_request(std::move(client), std::move(request)); },
            .failed = [this](Stream client,
                             const ProxyFault& fault) { take_fault(std::move(client), fault); }});
    proxy_->start();
}

void Connection::take_fault(Stream client, const ProxyFault& fault) {
    loop_.bury(std::move(proxy_));
    protocol_ = fault.protocol;
    if (!fault.last_words.empty()) record({.cause = "protocol", .reason = fault.reason});
    speak(std::make_unique<Refusal>(loop_, std::move(client), fault.last_words, [this] { leave(); }));
}

void Connection::take_request(Stream client, ProxyRequest request) {
    loop_.bury(std::move(proxy_));
    client_ = std::move(client);
    client_.watch(*this);
    protocol_ = request.protocol;
    answers_head_ = request.answers_head;
    said_ = std::move(request.rest);
    base::Result<Host> host = parse_host(request.host);
    if (host) return open(target_of(*host, request.port));
    destination_.port = request.port;
    refuse({.cause = Cause::literal, .reason = host.error().what, .advice = host.error().advice});
}

void Connection::open(const Translation& asked) {
    if (!asked.target) return refuse(asked.verdict);
    target_ = asked.target;
    if (intercept()) return;
    route_ = std::make_unique<Route>(shared_.context, shared_.connect, shared_.services, *target_,
                                     [this](std::optional<Arrival> arrival, const RouteFailure& failure) {
                                         verdict_ = route_->verdict();
                                         loop_.bury(std::move(route_));
                                         arrival ? arrive(std::move(*arrival)) : fail(failure);
                                     });
    route_->start();
}

// A credential or a request rule names the host: nothing is dialled before its request is judged.
bool Connection::intercept() {
    Broker* broker = shared_.context.broker;
    const auto* name = std::get_if<HostName>(&target_->host);
    std::optional<Broker::Way> way =
        broker != nullptr && name != nullptr ? broker->way_to(*name, target_->port) : std::nullopt;
    if (!way) return false;
    verdict_ = shared_.context.engine.decide({way->server, way->port, Transport::tcp});
    bool is_closed = !verdict_.is_allowed() && verdict_.decision != Decision::ask;
    if (!is_closed && !broker->enter()) {
        is_closed = true;
        verdict_ = {.cause = Cause::protocol,
                    .reason = base::format("more than {} connections whose requests are read",
                                           Broker::kMostConnections)};
    }
    if (is_closed) {
        refuse(verdict_);
        return true;
    }
    Interception::Opening opening{.client = std::move(client_),
                                  .asked = *target_,
                                  .way = *std::move(way),
                                  .to_client = {},
                                  .said = std::exchange(said_, {})};
    if (protocol_ == ClientProtocol::socks5)
        opening.to_client = wire::socks5_reply(wire::Socks5Code::succeeded);
    if (protocol_ == ClientProtocol::connect) opening.to_client = wire::kConnectEstablished;
    auto make_route = [this](Target target, Route::Done done) {
        return std::make_unique<Route>(shared_.context, shared_.connect, shared_.services, std::move(target),
                                       std::move(done));
    };
    interception_ = std::make_unique<Interception>(shared_.context, std::move(opening), make_route,
                                                   [this] { end_interception(); });
    interception_->start();
    return true;
}

Entry Connection::interception_entry() const {
    Entry entry = entry_of(verdict_);
    entry.protocol = interception_->protocol();
    entry.sent = interception_->sent();
    entry.received = interception_->received();
    entry.requests = interception_->unrecorded();
    if (!interception_->fault().empty()) entry.reason = interception_->fault();
    if (!interception_->is_refused()) return entry;
    entry.is_allowed = false;
    entry.cause = "protocol";
    return entry;
}

void Connection::end_interception() {
    dialled_ = interception_->address();
    record(interception_entry());
    leave();
}

void Connection::on_ready(uint32_t events, int) {
    if (!route_) return;
    // A connection that waits for the user's answer may wait for minutes. A client that has closed its side
    // by then has most likely given up, and its question would stay in the user's list.
    uint32_t ends = EPOLLERR | EPOLLHUP | (route_->is_held() ? EPOLLRDHUP : 0u);
    if ((events & ends) != 0) lose_client("the client left before the connection stood");
}

void Connection::lose_client(std::string_view reason) {
    route_.reset();
    client_.close();
    record({.cause = "unreachable", .reason = std::string(reason)});
    leave();
}

// A rule names the stream, or the user opened a port of the host by its number: no name is judged there. Only
// a rule closes the streams that are not read.
bool Connection::passes_unread(const Verdict& raw) const {
    bool is_by_rule = raw.cause == Cause::rule;
    return raw.is_allowed() ? is_by_rule || is_host_port_ : is_host_port_ && !is_by_rule;
}

std::unique_ptr<Guard> Connection::guard_for(const Arrival& arrival) {
    const Address* address = arrival.address ? &*arrival.address : nullptr;
    Verdict raw = shared_.context.engine.decide_raw(target_->host, target_->port, address);
    is_host_port_ = arrival.is_host_port;
    // A request in absolute form must be rewritten, so it must be read.
    is_raw_ = passes_unread(raw) && protocol_ != ClientProtocol::absolute;
    if (is_raw_) return nullptr;
    bool is_open_by_address =
        arrival.is_host_service ||
        (arrival.address &&
         is_opened(shared_.context.engine.decide({*arrival.address, target_->port, Transport::tcp})));
    return std::make_unique<Guard>(
        Expectation{.engine = shared_.context.engine,
                    .host = target_->host,
                    .port = target_->port,
                    .is_open_by_address = is_open_by_address,
                    .takes_other_names = arrival.is_host_service,
                    .takes_all_names = arrival.is_host_port,
                    .address = arrival.address,
                    .opened_names = &opened_names_,
                    .broker = shared_.context.broker},
        protocol_ == ClientProtocol::absolute ? HttpStream::Requests::one : HttpStream::Requests::many);
}

void Connection::arrive(Arrival arrival) {
    dialled_ = arrival.address;
    std::unique_ptr<Guard> guard = guard_for(arrival);
    Pending pending{.to_first = {}, .to_second = std::exchange(said_, {})};
    if (protocol_ == ClientProtocol::socks5)
        pending.to_first = wire::socks5_reply(wire::Socks5Code::succeeded);
    if (protocol_ == ClientProtocol::connect) pending.to_first = wire::kConnectEstablished;
    said_by_us_ = pending.to_first.size();
    pending.to_first += arrival.early;
    relay_ = std::make_unique<Relay>(
        loop_, shared_.pipes, std::move(client_), std::move(arrival.stream), pending,
        [this](const Relay::Counts& counts) { end_relay(counts); }, std::move(guard));
}

void Connection::end_relay(const Relay::Counts& counts) {
    const Guard* guard = relay_->guard();
    if (guard != nullptr && guard->state() == Guard::State::refused) return object(counts);
    record_relay(counts);
    leave();
}

void Connection::record_relay(const Relay::Counts& counts) const {
    Entry entry = entry_of(verdict_);
    entry.protocol = relay_->protocol();
    entry.sent = counts.from_first;
    entry.received = counts.from_second;
    record(std::move(entry));
}

// A refusal is recorded when it happens. A connection without a request has nothing to record.
void Connection::record_unfinished() {
    if (relay_) {
        record_relay(relay_->counts());
    } else if (interception_) {
        dialled_ = interception_->address();
        record(interception_entry());
    } else if (route_) {
        record({.cause = "unreachable", .reason = "the session ended before the connection stood"});
    }
}

// Judges name, port and address as when the connection was made, and the names that the client sent within
// it.
Verdict Connection::verdict_now() const {
    const Engine& engine = shared_.context.engine;
    const auto* name = std::get_if<HostName>(&target_->host);
    Verdict verdict = name != nullptr && dialled_
                          ? engine.decide_resolved(*name, *dialled_, target_->port)
                          : engine.decide({target_->host, target_->port, Transport::tcp});
    for (const HostName& said : opened_names_) {
        if (!verdict.is_allowed()) break;
        Verdict by_said = engine.decide({said, target_->port, Transport::tcp});
        if (!by_said.is_allowed()) verdict = std::move(by_said);
    }
    if (!is_raw_ || !verdict.is_allowed()) return verdict;
    Verdict raw = engine.decide_raw(target_->host, target_->port, dialled_ ? &*dialled_ : nullptr);
    bool is_still_raw = passes_unread(raw);
    if (!is_still_raw && raw.is_allowed())
        raw = {.cause = Cause::protocol, .reason = "no rule lets it through unread any more"};
    return is_still_raw ? verdict : raw;
}

// A rule about requests names the host of this connection, or a host that the client named within it.
bool Connection::is_read_now() const {
    const Broker* broker = shared_.context.broker;
    if (broker == nullptr) return false;
    const auto* name = std::get_if<HostName>(&target_->host);
    return (name != nullptr && broker->way_to(*name, target_->port)) ||
           std::ranges::any_of(opened_names_, [&](const HostName& said) { return broker->names(said); });
}

bool Connection::judge_again() {
    if (route_) {
        // Nothing was forwarded yet, so its requests can be read from the first one on.
        if (is_read_now()) {
            loop_.bury(std::move(route_));
            intercept();
            return false;
        }
        route_->judge_again();
        return !route_;
    }
    if (interception_) {
        const Target& server = interception_->server();
        Verdict verdict = shared_.context.engine.decide({server.host, server.port, Transport::tcp});
        if (verdict.is_allowed()) return interception_->judge_again();
        interception_->cut(verdict.reason);
        return true;
    }
    if (!relay_) return false;
    Verdict verdict = verdict_now();
    // Threat: a connection that was opened before a rule named its host makes requests that no rule judges
    // (tests/egress/live_requests.bats).
    if (verdict.is_allowed() && is_read_now())
        verdict = {.cause = Cause::protocol,
                   .reason = "the requests to this host are read from now on: connect again"};
    if (!verdict.is_allowed()) close_for(verdict);
    return !relay_;
}

// Explains the refusal only if neither side has sent anything. After that the client would take the text for
// a part of the server's data, so it gets a reset.
void Connection::close_for(const Verdict& verdict) {
    Relay::Counts counts = relay_->counts();
    Entry entry = entry_of(verdict);
    entry.protocol = relay_->protocol();
    entry.is_allowed = false;
    entry.cause = "policy change";
    entry.sent = counts.from_first;
    entry.received = counts.from_second;
    record(std::move(entry));
    Stream client = relay_->give_up();
    loop_.bury(std::move(relay_));
    auto done = [this] { leave(); };
    bool is_untouched = counts.from_first == 0 && counts.from_second <= said_by_us_;
    if (!is_untouched) return speak(std::make_unique<Refusal>(loop_, std::move(client), std::string(), done));
    RefusalWords words{
        .text = refusal_text(verdict, target_->text()), .rule = verdict.rule, .patience = kFirstBytesOfOpen};
    speak(std::make_unique<Refusal>(loop_, std::move(client), std::move(words), 0, done));
}

std::optional<ConnectionFacts> Connection::facts() const {
    if (!target_ || (!route_ && !relay_ && !interception_)) return std::nullopt;
    ConnectionFacts facts{.id = id_, .port = target_->port, .protocol = to_text(protocol_)};
    const auto* name = std::get_if<HostName>(&target_->host);
    if (name != nullptr) facts.name = name->str();
    if (dialled_) facts.address = dialled_->str();
    if (interception_) {
        facts.protocol = interception_->protocol();
        facts.sent = interception_->sent();
        facts.received = interception_->received();
        if (interception_->address()) facts.address = interception_->address()->str();
    }
    if (name == nullptr && !dialled_) facts.address = std::get<Address>(target_->host).str();
    if (relay_) {
        facts.protocol = relay_->protocol();
        facts.sent = relay_->counts().from_first;
        facts.received = relay_->counts().from_second;
    }
    facts.age = std::chrono::duration_cast<std::chrono::milliseconds>(base::EventLoop::Clock::now() - began_);
    return facts;
}

// Answers a program in the jail that asks about the rules for a host. Nothing is looked up and nothing is
// recorded, because no connection is wanted.
void Connection::explain(Stream client, const std::string& subject, bool answers_head) {
    loop_.bury(std::move(proxy_));
    speak(std::make_unique<Refusal>(
        loop_, std::move(client), explanation(shared_.context, subject, answers_head), [this] { leave(); }));
}

void Connection::object(const Relay::Counts& counts) {
    const Guard& guard = *relay_->guard();
    const Objection& objection = guard.objection();
    Entry entry = entry_of(objection.verdict);
    entry.protocol = guard.protocol();
    entry.cause = objection.cause;
    entry.reason = objection.reason;
    entry.is_allowed = false;
    entry.sent = counts.from_first;
    entry.received = counts.from_second;
    std::string words = guard.words(refusal_text(objection.reason, target_->text()));
    record(std::move(entry));
    speak(std::make_unique<Refusal>(loop_, relay_->take_first(), words, [this] { leave(); }));
    loop_.bury(std::move(relay_));
}

void Connection::refuse(const Verdict& verdict) {
    Entry entry = entry_of(verdict);
    entry.protocol = to_text(protocol_);
    entry.is_allowed = false;
    record(std::move(entry));
    std::string target = target_ ? target_->text() : Target{destination_.address, destination_.port}.text();
    answer({.text = refusal_text(verdict, target), .rule = verdict.rule}, wire::Socks5Code::not_allowed);
}

void Connection::fail(const RouteFailure& failure) {
    if (failure.kind == RouteFailure::Kind::refused) return refuse(failure.verdict);
    record({.protocol = to_text(protocol_), .cause = "unreachable", .reason = failure.reason});
    const FailureRow& row = row_of(failure.kind);
    answer({.text = base::format("agent-sandbox: {} (the policy allows it).", failure.reason),
            .rule = {},
            .http_status = row.http_status,
            .alert = wire::TlsAlert::internal_error},
           row.socks_code);
}

// Refusals by policy use the port's own protocol. Other failures do not: mail programs and ssh would not
// report an unreachable host that way.
void Connection::answer(RefusalWords words, wire::Socks5Code code) {
    auto done = [this] { leave(); };
    if (protocol_ == ClientProtocol::transparent) {
        uint16_t port = words.http_status == 403 ? destination_.port : 0;
        return speak(std::make_unique<Refusal>(loop_, std::move(client_), std::move(words), port, done));
    }
    std::string last_words = protocol_ == ClientProtocol::socks5
                                 ? wire::socks5_reply(code)
                                 : wire::http_refusal({.status = words.http_status,
                                                       .rule = words.rule,
                                                       .reason = words.text,
                                                       .answers_head = answers_head_});
    speak(std::make_unique<Refusal>(loop_, std::move(client_), last_words, done));
}

void Connection::sweep(base::EventLoop::Clock::time_point now) {
    if (names_) return names_->sweep(now);
    if (interception_) return interception_->sweep(now);
    if (proxy_) {
        if (now - began_ >= (proxy_->has_begun() ? kFirstFlight : kProxyIdle)) proxy_->expire();
        return;
    }
    // epoll does not repeat an event that the socket's previous watcher received.
    if (route_ && route_->is_held() && has_ended(client_))
        return lose_client("the client left before the connection stood");
    const Guard* guard = relay_ ? relay_->guard() : nullptr;
    bool is_holding = guard != nullptr && guard->is_holding();
    if (!is_holding || !is_waiting_ || guard->verdicts() != verdicts_) {
        is_waiting_ = is_holding;
        waiting_since_ = now;
        verdicts_ = guard != nullptr ? guard->verdicts() : 0;
        return;
    }
    if (now - waiting_since_ < kFirstFlight) return;
    Entry entry = entry_of(verdict_);
    entry.protocol = guard->protocol();
    entry.is_allowed = false;
    entry.cause = "protocol";
    entry.reason = "what the client said first stayed incomplete";
    record(std::move(entry));
    relay_.reset();
    leave();
}

void Connection::record(Entry entry) const {
    entry.kind = "connection";
    if (entry.protocol.empty()) entry.protocol = to_text(protocol_);
    const auto* name = target_ ? std::get_if<HostName>(&target_->host) : nullptr;
    if (name != nullptr) entry.name = name->str();
    const auto* literal = target_ ? std::get_if<Address>(&target_->host) : nullptr;
    if (dialled_) {
        entry.address = dialled_->str();
    } else if (literal != nullptr || !target_) {
        entry.address = (literal != nullptr ? *literal : destination_.address).str();
    }
    entry.port = target_ ? target_->port : destination_.port;
    entry.duration =
        std::chrono::duration_cast<std::chrono::milliseconds>(base::EventLoop::Clock::now() - began_);
    shared_.context.journal.record(entry);
}

}  // namespace network::gateway
