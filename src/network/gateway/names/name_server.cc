// SPDX-License-Identifier: MIT
// The steps for a query: is it well-formed, is the name one of our own, does the policy allow the name, is
// the type answered here, passed on or declined, and last the real lookup, whose addresses are judged one by
// one. The reply never contains a real address. A name with at least one usable address gets its synthetic
// addresses, in both families, because the gateway dials the real ones. A name that the user must decide
// about gets them without a lookup: the user is asked when a program connects.
#include "network/gateway/names/name_server.h"

#include <sys/epoll.h>

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "base/inside/addresses.h"
#include "base/text.h"
#include "network/gateway/broker/broker.h"
#include "network/gateway/control/messages.h"
#include "network/gateway/names/resolver.h"
#include "network/gateway/sockets.h"
#include "network/wire/dns/dns.h"

namespace network::gateway {
namespace {

using wire::DnsCode;
using wire::DnsQuery;
using wire::DnsType;
using wire::ExtendedCode;

constexpr size_t kMostRemembered = 65'536;  // names whose lookup is already in the record
constexpr int kMostQuestionsPerTurn = 64;   // datagrams of one socket before other sockets are served

std::string failure(const DnsQuery& query, DnsCode code, ExtendedCode extended, const std::string& text) {
    return wire::answer_failure(query, code, wire::ExtendedError{extended, "agent-sandbox: " + text});
}

std::string refusal(const DnsQuery& query, const Verdict& verdict) {
    std::string text = verdict.reason;
    if (!verdict.advice.empty()) text += "; " + verdict.advice;
    return failure(query, DnsCode::refused, ExtendedCode::blocked, text);
}

wire::Ipv4 ipv4_of(const Address& address) {
    wire::Ipv4 bytes{};
    std::copy_n(address.bytes().begin() + 12, bytes.size(), bytes.begin());
    return bytes;
}

std::string addresses_answer(const DnsQuery& query, const Address& v4, const Address& v6) {
    if (query.question->type == DnsType::a) return wire::answer_address(query, ipv4_of(v4));
    if (query.question->type == DnsType::aaaa) return wire::answer_address(query, v6.bytes());
    return wire::answer_no_data(query);
}

// The reply without its records, and with the TC bit that makes the client use TCP.
std::string cut(std::string_view reply) {
    size_t end = wire::kDnsHeader;
    if (!wire::DnsName::read(reply, end, wire::DnsName::Pointers::refused) || end + 4 > reply.size())
        return {};
    std::string message(reply.substr(0, end + 4));
    message[2] = static_cast<char>(message[2] | 0x02);
    std::fill(message.begin() + 6, message.begin() + wire::kDnsHeader, '\0');
    return message;
}

}  // namespace

struct NameServer::State : std::enable_shared_from_this<State> {
    explicit State(GatewayContext& its_context) : context(its_context) {}

    GatewayContext& context;
    std::vector<std::unique_ptr<Socket>> sockets;
    size_t outstanding = 0;
    std::unordered_set<HostName> recorded;
    OncePerSecond refusals;

    // A well-formed query whose name can be judged.
    struct PendingQuery {
        DnsQuery query;
        HostName name;
        Answer answer;
    };

    void serve(const wire::ParsedDnsQuery& parsed, Answer answer);
    void judge(PendingQuery pending);
    void look_up(PendingQuery pending);
    void pass_on(PendingQuery pending);
    void conclude(const PendingQuery& pending, const Resolution& resolution);
    void answer_unasked(const PendingQuery& pending, const Verdict& verdict);
    void answer_synthetic(const PendingQuery& pending, const Verdict& verdict,
                          const std::string& real_address);
    std::string pointer_answer(const DnsQuery& query, const Address& address) const;
    bool is_without_lookup(const HostName& name) const;
    bool take_place(const PendingQuery& pending);

    void refuse(const PendingQuery& pending, const Verdict& verdict);
    void record_allowed(const HostName& name, const Verdict& verdict, std::string address,
                        std::string reason);
    void record_refused(const std::string& name, Entry entry);
};

// ---- UDP

// For the jail's second name server. After REFUSED some resolvers (musl) retry until their time-out, seconds
// later. They query both servers at once, or one after the other as glibc does, and accept NXDOMAIN from this
// one.
void deny(std::string& reply) {
    constexpr size_t kCodeByte = 3;
    constexpr unsigned kCodeBits = 0x0f;
    if (reply.size() < wire::kDnsHeader) return;
    auto byte = static_cast<unsigned char>(reply[kCodeByte]);
    if ((byte & kCodeBits) != static_cast<unsigned>(DnsCode::refused)) return;
    reply[kCodeByte] = static_cast<char>((byte & ~kCodeBits) | static_cast<unsigned>(DnsCode::no_such_name));
}

class NameServer::Socket : public base::Watcher {
  public:
    Socket(State& state, base::Fd socket)
        : state_(state), socket_(std::make_shared<base::Fd>(std::move(socket))) {
        prepare_datagram_socket(socket_->get());
        slot_ = state_.context.loop.watch(socket_->get(), EPOLLIN, *this);
    }
    ~Socket() override {
        state_.context.loop.forget(slot_, socket_->get());
        socket_->reset();
    }

    void on_ready(uint32_t, int) override {
        char buffer[wire::kMaximumDnsQuery];
        for (int i = 0; i < kMostQuestionsPerTurn; ++i) {
            Receipt receipt = receive_datagram(socket_->get(), buffer);
            if (receipt.step == ReceiveStep::nothing_left) return;
            if (receipt.step == ReceiveStep::received) serve(receipt.datagram);
        }
    }

  private:
    void serve(const ReceivedDatagram& datagram) {
        wire::ParsedDnsQuery parsed = wire::parse_dns_query(datagram.payload);
        size_t most = wire::kMaximumDnsAnswer;
        if (parsed.query.edns) most = std::max<size_t>(most, parsed.query.edns->payload);
        auto answer = [socket = socket_, from = datagram.from, to = datagram.to,
                       most](const std::string& reply) {
            if (!*socket || reply.empty()) return;
            std::string sent = reply.size() > most ? cut(reply) : reply;
            if (is_fixed(to, Fixed::denier)) deny(sent);
            send_datagram(socket->get(), sent, from, to);
        };
        state_.serve(parsed, std::move(answer));
    }

    State& state_;
    std::shared_ptr<base::Fd> socket_;  // a pending reply checks whether it is still open
    base::EventLoop::Slot slot_ = nullptr;
};

NameServer::NameServer(GatewayContext& context) : state_(std::make_shared<State>(context)) {}

NameServer::~NameServer() = default;

void NameServer::listen(base::Fd socket) {
    state_->sockets.push_back(std::make_unique<Socket>(*state_, std::move(socket)));
}

void NameServer::judge_again() {
    state_->recorded.clear();
}

void NameServer::serve(std::string_view message, Answer answer) {
    state_->serve(wire::parse_dns_query(message), std::move(answer));
}

// ---- The steps for a query

void NameServer::State::serve(const wire::ParsedDnsQuery& parsed, Answer answer) {
    if (parsed.verdict != wire::DnsVerdict::query)
        return answer(wire::answer_fault(parsed).value_or(std::string()));
    const DnsQuery& query = parsed.query;
    const wire::DnsQuestion& question = *query.question;
    if (question.type == DnsType::ptr) {
        if (auto v4 = wire::reverse_ipv4(question.name))
            return answer(pointer_answer(query, Address::from_v4(*v4)));
        if (auto v6 = wire::reverse_ipv6(question.name))
            return answer(pointer_answer(query, Address::from_v6(*v6)));
    }
    std::optional<std::string> text = question.name.host_name();
    base::Result<HostName> name = HostName::parse(text.value_or(""));
    if (!name) {
        std::string reason = text ? name.error().what : "no name of a host";
        record_refused(question.name.text(), Entry{.cause = "protocol", .reason = reason});
        return answer(failure(query, DnsCode::refused, ExtendedCode::blocked, reason));
    }
    judge({query, std::move(*name), std::move(answer)});
}

std::string NameServer::State::pointer_answer(const DnsQuery& query, const Address& address) const {
    const HostName* name = context.names.name_of(address);
    std::string_view text = name ? std::string_view(name->str()) : std::string_view();
    if (is_fixed(address, Fixed::host)) text = base::kHostServiceName;
    auto target = wire::DnsName::from_host_name(text);
    if (text.empty() || !target) {
        return failure(query, DnsCode::no_such_name, ExtendedCode::filtered,
                       "addresses are not looked up outside, only those of this jail have names");
    }
    return wire::answer_pointer(query, *target);
}

void NameServer::State::judge(PendingQuery pending) {
    if (is_localhost(pending.name)) {
        return pending.answer(
            addresses_answer(pending.query, Address::from_v4({127, 0, 0, 1}),
                             Address::from_v6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})));
    }
    DnsType type = pending.query.question->type;
    if (context.broker != nullptr && context.broker->is_endpoint_name(pending.name)) {
        Verdict own{.decision = Decision::allow, .reason = "the session's own name for a credential's host"};
        return type == DnsType::a || type == DnsType::aaaa
                   ? answer_synthetic(pending, own, {})
                   : pending.answer(wire::answer_no_data(pending.query));
    }
    Verdict verdict = context.engine.decide_lookup(pending.name);
    if (verdict.decision == Decision::ask) return answer_unasked(pending, verdict);
    if (!verdict.is_allowed()) return refuse(pending, verdict);
    if (pending.name.str() == base::kHostServiceName) {
        record_allowed(pending.name, verdict, {}, {});
        return pending.answer(addresses_answer(pending.query, fixed_v4(Fixed::host), fixed_v6(Fixed::host)));
    }
    if (type == DnsType::a || type == DnsType::aaaa) {
        if (is_without_lookup(pending.name)) return answer_synthetic(pending, verdict, {});
        return look_up(std::move(pending));
    }
    bool is_passed = std::ranges::find(context.egress.passed_types, static_cast<uint16_t>(type)) !=
                     context.egress.passed_types.end();
    if (is_passed && !is_without_lookup(pending.name)) return pass_on(std::move(pending));
    if (type == DnsType::any) {
        return pending.answer(failure(pending.query, DnsCode::not_implemented, ExtendedCode::not_supported,
                                      "ask for one type at a time"));
    }
    // Clients query these types beside A and AAAA, and accept an empty answer.
    if (type == DnsType::https || type == DnsType::svcb)
        return pending.answer(wire::answer_no_data(pending.query));
    pending.answer(failure(pending.query, DnsCode::no_error, ExtendedCode::filtered,
                           is_passed ? "nothing is looked up here, the site's proxy does"
                                     : "network.dns_types does not let this type through"));
}

// A and AAAA get synthetic addresses. Other types would need a lookup, which the user has not allowed yet.
void NameServer::State::answer_unasked(const PendingQuery& pending, const Verdict& verdict) {
    DnsType type = pending.query.question->type;
    if (type == DnsType::a || type == DnsType::aaaa) return answer_synthetic(pending, verdict, {});
    pending.answer(failure(pending.query, DnsCode::no_error, ExtendedCode::filtered, verdict.reason));
}

// The site's proxy receives the name and looks it up itself.
bool NameServer::State::is_without_lookup(const HostName& name) const {
    return context.egress.upstream && context.egress.upstream->is_for(name);
}

bool NameServer::State::take_place(const PendingQuery& pending) {
    if (outstanding >= kMostOutstanding) {
        pending.answer(failure(pending.query, DnsCode::server_failure, ExtendedCode::other,
                               "too many questions at once"));
        return false;
    }
    ++outstanding;
    return true;
}

void NameServer::State::look_up(PendingQuery pending) {
    if (!take_place(pending)) return;
    HostName name = pending.name;
    context.resolver.look_up(
        name, [weak = weak_from_this(), pending = std::move(pending)](const Resolution& resolution) {
            std::shared_ptr<State> state = weak.lock();
            if (!state) return;
            --state->outstanding;
            state->conclude(pending, resolution);
        });
}

void NameServer::State::pass_on(PendingQuery pending) {
    if (!take_place(pending)) return;
    record_allowed(pending.name, context.engine.decide_lookup(pending.name), {}, {});
    DnsQuery query = pending.query;
    context.resolver.ask(
        query, [weak = weak_from_this(), pending = std::move(pending)](std::string_view reply) {
            std::shared_ptr<State> state = weak.lock();
            if (!state) return;
            --state->outstanding;
            // Judge again: the rules may have changed during the query.
            Verdict verdict = state->context.engine.decide_lookup(pending.name);
            if (verdict.decision == Decision::ask) return state->answer_unasked(pending, verdict);
            if (!verdict.is_allowed()) return state->refuse(pending, verdict);
            if (!reply.empty()) return pending.answer(std::string(reply));
            pending.answer(failure(pending.query, DnsCode::server_failure, ExtendedCode::network_error,
                                   "the host's resolvers did not answer"));
        });
}

void NameServer::State::conclude(const PendingQuery& pending, const Resolution& resolution) {
    // Judge again: a lookup can take long, and the verdict goes into the record.
    Verdict verdict = context.engine.decide_lookup(pending.name);
    if (verdict.decision == Decision::ask) return answer_unasked(pending, verdict);
    if (!verdict.is_allowed()) return refuse(pending, verdict);
    switch (resolution.outcome) {
        case Resolution::Outcome::no_such_name:
            record_allowed(pending.name, verdict, {}, "no such name");
            return pending.answer(wire::answer_failure(pending.query, DnsCode::no_such_name));
        case Resolution::Outcome::no_address:
            record_allowed(pending.name, verdict, {}, "the name has no address");
            return pending.answer(wire::answer_no_data(pending.query));
        case Resolution::Outcome::failed:
            record_allowed(pending.name, verdict, {}, resolution.reason);
            return pending.answer(failure(pending.query, DnsCode::server_failure, ExtendedCode::network_error,
                                          resolution.reason));
        case Resolution::Outcome::found:
            break;
    }
    Verdict closed;
    for (const Address& address : resolution.addresses) {
        Verdict by_address = context.engine.decide_address(pending.name, address);
        if (by_address.is_allowed()) return answer_synthetic(pending, by_address, address.str());
        if (&address == &resolution.addresses.front()) closed = std::move(by_address);
    }
    refuse(pending, closed);
}

void NameServer::State::answer_synthetic(const PendingQuery& pending, const Verdict& verdict,
                                         const std::string& real_address) {
    std::optional<Names::Pair> pair = context.names.addresses_of(pending.name);
    if (!pair) {
        std::string reason = base::format("this session has used up its {} names", Names::kMost);
        record_refused(pending.name.str(), Entry{.cause = "limit", .reason = reason});
        return pending.answer(failure(pending.query, DnsCode::refused, ExtendedCode::prohibited, reason));
    }
    if (verdict.is_allowed()) record_allowed(pending.name, verdict, real_address, {});
    pending.answer(addresses_answer(pending.query, pair->v4, pair->v6));
}

// ---- The record

void NameServer::State::refuse(const PendingQuery& pending, const Verdict& verdict) {
    record_refused(pending.name.str(), entry_of(verdict));
    pending.answer(refusal(pending.query, verdict));
}

void NameServer::State::record_refused(const std::string& name, Entry entry) {
    if (!refusals.admits(name, base::EventLoop::Clock::now())) return;
    entry.kind = "lookup";
    entry.protocol = "dns";
    entry.name = name;
    context.journal.record(entry);
}

void NameServer::State::record_allowed(const HostName& name, const Verdict& verdict, std::string address,
                                       std::string reason) {
    // When the set is full, record some names twice rather than omit any.
    if (recorded.size() >= kMostRemembered) recorded.clear();
    if (!recorded.insert(name).second) return;
    Entry entry = entry_of(verdict);
    entry.kind = "lookup";
    entry.protocol = "dns";
    entry.name = name.str();
    entry.address = std::move(address);
    if (!reason.empty()) entry.reason = std::move(reason);
    context.journal.record(entry);
}

}  // namespace network::gateway
