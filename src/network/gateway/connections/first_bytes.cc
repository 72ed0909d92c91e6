// SPDX-License-Identifier: MIT
#include "network/gateway/connections/first_bytes.h"

#include <algorithm>

#include "base/text.h"
#include "network/gateway/broker/broker.h"
#include "network/wire/bytes.h"
#include "network/wire/protocol_guess.h"
#include "rules/rules_text.h"

namespace network::gateway {
namespace {

std::string host_text(const Host& host) {
    const auto* name = std::get_if<HostName>(&host);
    return name != nullptr ? name->str() : std::get<Address>(host).str();
}

// Threat: a name that request rules judge is reached by its address or at another port, unread
// (tests/egress/credentials.bats).
std::optional<Objection> judge_read_name(const Expectation& expected, const Host& said) {
    const auto* name = std::get_if<HostName>(&said);
    if (expected.broker == nullptr || name == nullptr || !expected.broker->names(*name)) return std::nullopt;
    return Objection{
        .reason = base::format(
            "a credential or a request rule names {}, and its requests are read only where it is opened by "
            "its name at port 443 or 80; write {}:{} there to have this port read too",
            in_quotes(name->str()), name->str(), expected.port),
        .alert = wire::TlsAlert::unrecognized_name};
}

std::optional<Objection> judge_host(const Expectation& expected, const Host& said, std::string_view where) {
    if (auto objection = judge_read_name(expected, said)) return objection;
    if (said == expected.host || expected.takes_all_names) return std::nullopt;
    bool is_named = std::holds_alternative<HostName>(expected.host) && !expected.takes_other_names;
    if (is_named || std::holds_alternative<Address>(said)) {
        return Objection{
            .reason = base::format("{} says {}, the connection was opened to {}", where,
                                   in_quotes(host_text(said)), in_quotes(host_text(expected.host))),
            .alert = wire::TlsAlert::unrecognized_name};
    }
    // The address is allowed. The name that the client sends is judged like any other.
    Verdict verdict = expected.engine.decide({said, expected.port, Transport::tcp});
    if (verdict.is_allowed()) {
        const auto& name = std::get<HostName>(said);
        std::vector<HostName>* opened = expected.opened_names;
        bool is_new = opened != nullptr && std::ranges::find(*opened, name) == opened->end();
        if (is_new) opened->push_back(name);
        return std::nullopt;
    }
    Objection objection{.cause = to_text(verdict.cause), .alert = wire::TlsAlert::unrecognized_name};
    objection.reason = base::format("{} says {}: {}", where, in_quotes(host_text(said)), verdict.reason);
    objection.verdict = std::move(verdict);
    return objection;
}

}  // namespace

std::optional<Objection> judge_server_name(const Expectation& expected, const wire::ClientHello& hello,
                                           Hello where) {
    bool is_named = std::holds_alternative<HostName>(expected.host);
    if (!hello.server_name) {
        bool may_lack = where == Hello::within_other_protocol || expected.is_open_by_address;
        if (!is_named || may_lack) return std::nullopt;
        return Objection{
            .reason = "TLS without a server name (SNI), which could be for any host behind the address",
            .alert = wire::TlsAlert::unrecognized_name};
    }
    base::Result<HostName> name = HostName::parse(*hello.server_name);
    if (!name) {
        // Some clients send an address there. It must be the connection's own.
        base::Result<Address> address = Address::parse(*hello.server_name);
        if (address) return judge_host(expected, *address, "the TLS server name (SNI)");
        return Objection{.reason = "the TLS server name (SNI) is not a host name: " + name.error().what,
                         .alert = wire::TlsAlert::unrecognized_name};
    }
    return judge_host(expected, *name, "the TLS server name (SNI)");
}

std::optional<Objection> judge_authority(const Expectation& expected, const wire::Authority& said) {
    base::Result<Host> host = parse_host(said.host);
    if (!host) {
        return Objection{.reason = "the HTTP host can't be understood: " + host.error().what,
                         .http_status = 400};
    }
    if (said.port && *said.port != expected.port) {
        return Objection{.reason =
                             base::format("the HTTP host says port {}, the connection was opened to port {}",
                                          *said.port, expected.port)};
    }
    return judge_host(expected, *host, "the HTTP host");
}

Verdict judge_unknown_protocol(const Expectation& expected) {
    const Address* address = expected.address ? &*expected.address : nullptr;
    Verdict verdict = expected.engine.decide_raw(expected.host, expected.port, address);
    bool is_by_port = verdict.cause == Cause::protocol;
    if (is_by_port && expected.is_open_by_address) verdict.decision = Decision::allow;
    return verdict;
}

Objection object_to_bytes(const Expectation& expected, std::string_view what) {
    Verdict verdict = judge_unknown_protocol(expected);
    bool is_by_rule = !verdict.is_allowed() && verdict.cause == Cause::rule;
    if (!is_by_rule) verdict = raw_refusal(expected.host, expected.port, verdict.reason);
    Objection objection{.reason = std::string(what), .http_status = 400};
    if (is_by_rule) objection.reason += base::format(": {} ({})", verdict.reason, verdict.rule);
    if (!verdict.advice.empty()) objection.reason += "; " + verdict.advice;
    objection.verdict = std::move(verdict);
    return objection;
}

namespace {

using wire::Protocol;

constexpr uint8_t kChangeCipherSpec = 20;
constexpr uint8_t kApplicationData = 23;
constexpr size_t kMostSkipped = 64 << 10;  // early data that the server rejected
constexpr size_t kPostgresRequest = 8;     // bytes
constexpr int kMostPostgresRequests = 2;   // one for GSSAPI, one for TLS

// A byte as the text of a refusal shows it.
std::string shown(char letter) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    auto byte = static_cast<unsigned char>(letter);
    return base::format("0x{}{}", kDigits[byte >> 4], kDigits[byte & 15]);
}

bool takes_unknown_protocols(const Expectation& expected) {
    return judge_unknown_protocol(expected).is_allowed();
}

}  // namespace

FirstFlight::FirstFlight(const Expectation& expected)
    : takes_unknown_(takes_unknown_protocols(expected)), guess_(!takes_unknown_) {}

FirstFlight::State FirstFlight::refuse(Objection objection) {
    objection_ = std::move(objection);
    return State::refused;
}

FirstFlight::State FirstFlight::look(std::string_view received, const Expectation& expected) {
    if (step_ != Step::opening) return look_at_hello(received, expected);
    if (protocol_ == Protocol::undecided) {
        protocol_ = guess_.take(received.substr(looked_));
        looked_ = received.size();
    }
    return decide(received, expected);
}

FirstFlight::State FirstFlight::decide(std::string_view received, const Expectation& expected) {
    switch (protocol_) {
        case Protocol::undecided:
            return State::need_more;
        case Protocol::tls:
            step_ = Step::first_hello;
            return look_at_hello(received, expected);
        case Protocol::http1:
            return State::http;
        case Protocol::http2:
            return refuse(
                object_to_bytes(expected, "HTTP/2 without TLS, whose requests can't be judged one by one"));
        case Protocol::ssl2:
            return refuse(
                object_to_bytes(expected, "a TLS hello in the format of SSL 2, which names no host"));
        case Protocol::proxy_header:
            return refuse(object_to_bytes(
                expected, "a header of the PROXY protocol, behind which the server reads another request"));
        case Protocol::postgres:
            if (++postgres_requests_ > kMostPostgresRequests)
                return refuse({.reason = "PostgreSQL's request for encryption, sent again and again"});
            step_ = Step::postgres_answer;
            judged_ = kPostgresRequest;
            return State::wait;
        case Protocol::git:
            return look_at_git_request(received, expected);
        case Protocol::ssh:
            return State::pass;
        case Protocol::other:
            break;
    }
    if (takes_unknown_) return State::pass;
    Verdict verdict = judge_unknown_protocol(expected);
    std::string what =
        base::format("what is sent, beginning with the byte {}, is of a protocol that is not read here",
                     shown(received.front()));
    if (verdict.cause == Cause::protocol) what += ": " + verdict.reason;
    return refuse(object_to_bytes(expected, what));
}

FirstFlight::State FirstFlight::look_at_end(std::string_view received, const Expectation& expected) {
    if (protocol_ != Protocol::undecided) return State::need_more;
    protocol_ = guess_.at_end();
    // A request that ends within its first line.
    if (protocol_ == Protocol::http1)
        return refuse({.reason = "the request ends within its first line", .http_status = 400});
    if (takes_unknown_ || received.empty()) return State::pass;
    if (protocol_ == Protocol::undecided) protocol_ = Protocol::other;
    return decide(received, expected);
}

// Records that the server ignores may precede a second hello.
FirstFlight::State FirstFlight::look_at_hello(std::string_view received, const Expectation& expected) {
    while (step_ == Step::second_hello && skipped_ < received.size()) {
        wire::Cursor record(received.substr(skipped_));
        uint8_t type = record.u8();
        if (type != kChangeCipherSpec && type != kApplicationData) break;
        record.u16();
        record.take(record.u16());
        bool is_too_long =
            skipped_ > kMostSkipped || received.size() > kMostSkipped + wire::kMaximumHelloBytes;
        if (is_too_long) return refuse({.reason = "too much stands before the second TLS hello"});
        if (record.has_failed()) return State::need_more;
        skipped_ = received.size() - record.left();
    }
    switch (hello_.look(received.substr(std::min(skipped_, received.size())))) {
        case wire::ClientHelloReader::State::need_more:
            return State::need_more;
        case wire::ClientHelloReader::State::complete:
            break;
        case wire::ClientHelloReader::State::not_tls:
        case wire::ClientHelloReader::State::refused:
            return refuse({.reason = "the TLS hello can't be understood: " + std::string(hello_.fault()),
                           .alert = wire::TlsAlert::decode_error});
    }
    if (auto objection = judge_server_name(expected, hello_.hello(), hello_is_)) {
        return refuse(std::move(*objection));
    }
    if (step_ == Step::second_hello) return State::pass;
    step_ = Step::after_hello;
    judged_ = hello_.size();
    return State::wait;
}

FirstFlight::State FirstFlight::look_at_reply(std::string_view bytes, const Expectation& expected) {
    if (step_ == Step::postgres_answer) {
        return bytes.empty() ? State::need_more : take_postgres_answer(bytes.front(), expected);
    }
    if (step_ == Step::git_answer) return take_git_answer(bytes);
    switch (answer_.take(bytes)) {
        case wire::ServerHelloReader::State::need_more:
            return State::need_more;
        case wire::ServerHelloReader::State::other:
            return State::pass;
        case wire::ServerHelloReader::State::refused:
            return refuse({.reason = "the server's answer to the TLS hello can't be understood"});
        case wire::ServerHelloReader::State::retry:
            break;
    }
    step_ = Step::second_hello;
    hello_ = {};
    return State::wait;
}

FirstFlight::State FirstFlight::look_at_git_request(std::string_view received, const Expectation& expected) {
    wire::GitRequest request;
    switch (wire::read_git_request(received, request)) {
        case wire::GitRequestState::need_more:
            return State::need_more;
        case wire::GitRequestState::refused:
            return refuse(object_to_bytes(expected, "a request to git's own server that is malformed"));
        case wire::GitRequestState::complete:
            break;
    }
    if (request.host) {
        if (auto objection = judge_authority(expected, *request.host)) return refuse(std::move(*objection));
    }
    step_ = Step::git_answer;
    judged_ = request.size;
    return State::wait;
}

// The answer is packets, each with its length in four hexadecimal digits. Only git's server answers like
// this.
FirstFlight::State FirstFlight::take_git_answer(std::string_view bytes) {
    constexpr size_t kDigits = 4;
    git_answer_ += bytes.substr(0, kDigits - git_answer_.size());
    bool is_packet = git_answer_.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!is_packet) return refuse({.reason = "the server does not answer as git's own server does"});
    return git_answer_.size() < kDigits ? State::need_more : State::pass;
}

FirstFlight::State FirstFlight::take_postgres_answer(char answer, const Expectation&) {
    constexpr char kTls = 'S', kNeither = 'N', kGss = 'G', kError = 'E';
    if (answer == kTls) {
        step_ = Step::first_hello;
        protocol_ = Protocol::tls;
        hello_is_ = Hello::within_other_protocol;
        return State::wait;
    }
    // 'G': GSSAPI encryption follows. 'E': the server supports neither request. Nothing is left to judge.
    // After 'N' the client continues unencrypted or sends the other request.
    if (answer == kGss || answer == kError) return State::pass;
    if (answer != kNeither)
        return refuse({.reason = "the server does not answer as a server of PostgreSQL does"});
    step_ = Step::opening;
    protocol_ = Protocol::undecided;
    guess_ = wire::ProtocolGuess(!takes_unknown_);
    looked_ = 0;
    return State::wait;
}

}  // namespace network::gateway
