// SPDX-License-Identifier: MIT
#include "properties.h"

#include <algorithm>

#include "network/wire/bytes.h"
#include "network/wire/dns/dns.h"
#include "network/wire/dns/dns_lookup.h"
#include "network/wire/http/http_exchange.h"
#include "network/wire/http/http_head.h"
#include "network/wire/protocol_guess.h"
#include "network/wire/refusals.h"
#include "network/wire/socks5.h"
#include "network/wire/tls.h"
#include "verdicts.h"

namespace network::wire {
namespace {

constexpr size_t kHeaderId = 2;

std::string broken_name(const DnsName& name) {
    if (name.wire().size() > kMaximumDnsName) return "a name is never longer than 255 bytes";
    std::string text = name.text();
    if (!std::ranges::all_of(text, [](char letter) { return letter > ' ' && letter <= '~'; })) {
        return "a name's text is printable ASCII";
    }
    if (auto host = name.host_name()) {
        auto again = DnsName::from_host_name(*host);
        if (!again || again->wire() != name.wire()) return "a host name is its own name again";
    }
    return "";
}

std::string broken_answer(const DnsQuery& query, const std::string& answer) {
    if (answer.size() > kMaximumDnsAnswer) return "an answer fits into 512 bytes";
    if (parse_dns_query(answer).verdict != DnsVerdict::ignore) return "an answer is never taken for a query";
    Cursor cursor(answer);
    if (cursor.u16() != query.id) return "an answer carries the query's id";
    return "";
}

std::string broken_dns(std::string_view input) {
    ParsedDnsQuery parsed = parse_dns_query(input);
    const DnsQuery& query = parsed.query;
    if (parsed.verdict == DnsVerdict::ignore)
        return answer_fault(parsed) ? "what is ignored gets no answer" : "";
    if (parsed.verdict == DnsVerdict::query && !query.question) return "a query has a question";
    if (query.question) {
        if (std::string broken = broken_name(query.question->name); !broken.empty()) return broken;
    }
    ExtendedError error{.text = input};
    Ipv4 ipv4{198, 18, 0, 1};
    for (const std::string& answer :
         {answer_address(query, ipv4), answer_address(query, Ipv6{0xfd}), answer_no_data(query),
          answer_pointer(query, query.question ? query.question->name : DnsName()),
          answer_failure(query, DnsCode::refused, error),
          answer_fault(parsed).value_or(answer_no_data(query))}) {
        if (std::string broken = broken_answer(query, answer); !broken.empty()) return broken;
    }
    if (parsed.verdict != DnsVerdict::query) return "";
    DnsReply reply = parse_dns_reply(answer_address(query, ipv4), query.id, *query.question);
    if (reply.kind != DnsReply::Kind::answer || reply.ipv4 != std::vector{ipv4}) {
        return "an answer reads back as the address that was put in";
    }
    return "";
}

std::string broken_dns_stream(std::string_view input) {
    return disagreement(frames_verdict, input);
}

// The first two bytes are used as the id, so that the parser reads the rest of the answer.
std::string broken_dns_lookup(std::string_view input) {
    DnsQuestion question{.name = *DnsName::from_host_name("a.example"), .type = DnsType::a};
    uint16_t id = Cursor(input.substr(0, kHeaderId)).u16();
    DnsReply reply = parse_dns_reply(input, id, question);
    bool is_empty = reply.ipv4.empty() && reply.ipv6.empty();
    if (reply.kind != DnsReply::Kind::answer && !is_empty) return "only an answer has addresses";
    if (reply.ipv4.size() + reply.ipv6.size() > kMaximumDnsRecords)
        return "the number of addresses is bounded";
    return "";
}

std::string broken_client_hello(std::string_view input) {
    ClientHelloReader reader;
    ClientHelloReader::State state = reader.look(input);
    if (state == ClientHelloReader::State::need_more && input.size() > kMaximumHelloBytes) {
        return "kMaximumHelloBytes are enough for a verdict";
    }
    if (state == ClientHelloReader::State::complete && reader.hello().server_name &&
        !is_host_name(*reader.hello().server_name)) {
        return "a server name is a host name";
    }
    return disagreement(hello_verdict, input);
}

std::string broken_forwarding(const HttpRequest& request) {
    std::string head = forwarded_head(request);
    HttpHeadReader reader;
    if (reader.look(head) != HttpHeadReader::State::complete) {
        // The Host and Connection fields that we add may exceed the limit; then the server reports it.
        return reader.fault().status == 431 ? "" : "a forwarded head is a good one: " + head;
    }
    const HttpRequest& again = reader.request();
    if (again.head_size != head.size()) return "a forwarded head is one head";
    if (again.form == HttpRequest::Form::absolute) return "a forwarded head is in origin form";
    if (again.method != request.method || again.path != request.path) return "forwarding keeps what is asked";
    if (again.body != request.body || again.length != request.length) return "forwarding keeps the framing";
    const auto& meant = request.target ? request.target : request.host;
    if (again.host.has_value() != meant.has_value()) return "forwarding keeps the host";
    if (meant && authority_text(*again.host) != authority_text(*meant)) return "forwarding keeps the host";
    if (again.keeps_alive && !again.wants_websocket) return "a forwarded head closes";
    if (forwarded_head(again) != head) return "forwarding twice changes nothing more";
    return "";
}

std::string broken_http_head(std::string_view input) {
    HttpHeadReader reader;
    HttpHeadReader::State state = reader.look(input);
    if (state == HttpHeadReader::State::need_more && input.size() > kMaximumHead) return "16 KiB are enough";
    if (state == HttpHeadReader::State::complete) {
        const HttpRequest& request = reader.request();
        if (std::string broken = broken_forwarding(request); !broken.empty()) return broken;
        std::string_view rest = input.substr(request.head_size);
        HttpBody body(request);
        size_t taken = body.take(rest);
        if (taken > rest.size()) return "a body takes no more than there is";
        if (taken < rest.size() && body.state() == HttpBody::State::open)
            return "an open body takes everything";
    }
    return disagreement(head_verdict, input);
}

std::string broken_http_body(std::string_view input) {
    return disagreement(chunked_verdict, input);
}
std::string broken_http_response(std::string_view input) {
    return disagreement(response_verdict, input);
}

std::string broken_socks5(std::string_view input) {
    Socks5Reader reader;
    std::string reply;
    Socks5Reader::State state = reader.look(input, reply);
    if (state == Socks5Reader::State::need_more && input.size() >= kMaximumSocks5Bytes) {
        return "kMaximumSocks5Bytes are enough for a verdict";
    }
    if (reader.consumed() > input.size()) return "no more is consumed than there is";
    return disagreement(socks5_verdict, input);
}

std::string broken_smtp(std::string_view input) {
    constexpr size_t kLineOverhead = 6;
    SmtpRefusal refusal(input);
    for (std::string_view rest = refusal.greeting(); !rest.empty();) {
        size_t end = rest.find("\r\n");
        if (end == std::string_view::npos) return "every line of the greeting ends with CR LF";
        if (end + 2 > kMaximumSmtpLine || end + 2 < kLineOverhead)
            return "a line of the greeting is no longer than 512";
        if (!std::ranges::all_of(rest.substr(0, end),
                                 [](char letter) { return letter >= ' ' && letter <= '~'; })) {
            return "the greeting is printable ASCII";
        }
        rest.remove_prefix(end + 2);
    }
    return disagreement(smtp_verdict, input);
}

std::string broken_ssh(std::string_view input) {
    std::string sent = ssh_refusal(input);
    size_t end = sent.find("\r\n");
    if (end == std::string::npos) return "an identification comes first";
    Cursor packet(std::string_view(sent).substr(end + 2));
    if (packet.left() % 8 != 0) return "a packet is a multiple of eight bytes";
    if (packet.u32() != packet.left()) return "a packet has the length it says";
    size_t padding = packet.u8();
    if (packet.u8() != 1 || packet.u32() != 1) return "the packet is a disconnect";
    packet.take(packet.u32());
    packet.take(packet.u32());
    return packet.left() == padding && padding >= 4 && !packet.has_failed() ? ""
                                                                            : "the padding ends the packet";
}

std::string broken_guess(std::string_view input) {
    if (guess_protocol(input) == Protocol::undecided && input.size() > kMaximumGuessBytes) {
        return "kMaximumGuessBytes are enough for a guess";
    }
    return disagreement(guess_verdict, input);
}

std::string broken_git_request(std::string_view input) {
    GitRequest whole;
    GitRequestState state = read_git_request(input, whole);
    for (size_t size = 0; size < input.size(); ++size) {
        GitRequest part;
        GitRequestState earlier = read_git_request(input.substr(0, size), part);
        if (earlier != GitRequestState::need_more && earlier != state) return "a verdict is final";
    }
    if (state != GitRequestState::complete) return "";
    if (whole.size > input.size()) return "a request is no longer than what came";
    bool has_line = input.substr(0, whole.size).find_first_of("\r\n") != std::string_view::npos;
    if (has_line) return "a request holds no end of a line";
    return whole.host && !parse_authority(authority_text(*whole.host)) ? "a host can be written again" : "";
}

std::string broken_server_hello(std::string_view input) {
    ServerHelloReader whole, pieces;
    ServerHelloReader::State state = whole.take(input), one_by_one = ServerHelloReader::State::need_more;
    for (size_t at = 0; at < input.size() && one_by_one == ServerHelloReader::State::need_more; ++at)
        one_by_one = pieces.take(input.substr(at, 1));
    return state == one_by_one ? "" : "pieces disagree";
}

constexpr Property kProperties[] = {
    {"client_hello", broken_client_hello},
    {"dns", broken_dns},
    {"dns_lookup", broken_dns_lookup},
    {"dns_stream", broken_dns_stream},
    {"git_request", broken_git_request},
    {"http_body", broken_http_body},
    {"http_head", broken_http_head},
    {"http_response", broken_http_response},
    {"protocol_guess", broken_guess},
    {"server_hello", broken_server_hello},
    {"smtp", broken_smtp},
    {"socks5", broken_socks5},
    {"ssh", broken_ssh},
};

}  // namespace

std::span<const Property> properties() {
    return kProperties;
}

}  // namespace network::wire
