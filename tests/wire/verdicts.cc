// SPDX-License-Identifier: MIT
#include "verdicts.h"

#include <random>

#include "base/text.h"
#include "network/wire/dns/dns.h"
#include "network/wire/http/http_exchange.h"
#include "network/wire/http/http_head.h"
#include "network/wire/protocol_guess.h"
#include "network/wire/refusals.h"
#include "network/wire/socks5.h"
#include "network/wire/tls.h"

namespace network::wire {
namespace {

constexpr uint32_t kRandomManners = 3;

// For readers that get all bytes that have arrived so far.
void growing(std::string_view input, uint32_t seed, const std::function<void(std::string_view)>& show) {
    size_t size = 0;
    in_pieces(input, seed, [&](std::string_view piece) { show(input.substr(0, size += piece.size())); });
}

std::string text_of(const std::optional<Authority>& authority) {
    return authority ? authority_text(*authority) : "none";
}

std::string text_of(const HttpRequest& request) {
    static constexpr const char* kForms[] = {"origin", "absolute", "authority", "asterisk"};
    std::string text = request.method + " " + kForms[static_cast<int>(request.form)] +
                       " path=" + request.path + " target=" + text_of(request.target) +
                       " host=" + text_of(request.host);
    if (request.body == HttpRequest::Body::sized) text += " length=" + std::to_string(request.length);
    if (request.body == HttpRequest::Body::chunked) text += " chunked";
    if (!request.keeps_alive) text += " close";
    if (request.wants_websocket) text += " websocket";
    return text;
}

}  // namespace

void in_pieces(std::string_view input, uint32_t seed, const std::function<void(std::string_view)>& show) {
    std::minstd_rand random(seed);
    if (seed == kWhole) return show(input);
    while (!input.empty()) {
        size_t size = seed == kBytewise ? 1 : 1 + random() % (random() % 4 == 0 ? 2000 : 10);
        std::string_view piece = input.substr(0, size);
        show(piece);
        input.remove_prefix(piece.size());
    }
}

std::string hello_verdict(std::string_view input, uint32_t seed) {
    ClientHelloReader reader;
    ClientHelloReader::State state{};
    growing(input, seed, [&](std::string_view received) { state = reader.look(received); });
    if (state == ClientHelloReader::State::need_more) return "need more";
    if (state == ClientHelloReader::State::not_tls) return "not TLS";
    if (state == ClientHelloReader::State::refused) return "refused: " + std::string(reader.fault());
    std::string text = "name=" + reader.hello().server_name.value_or("none");
    for (const std::string& protocol : reader.hello().protocols) text += " alpn=" + base::printable(protocol);
    return text + (reader.hello().has_encrypted_hello ? " ech" : "");
}

std::string head_verdict(std::string_view input, uint32_t seed) {
    HttpHeadReader reader;
    HttpHeadReader::State state{};
    growing(input, seed, [&](std::string_view received) { state = reader.look(received); });
    if (state == HttpHeadReader::State::need_more) return "need more";
    if (state == HttpHeadReader::State::complete) return text_of(reader.request());
    return std::to_string(reader.fault().status) + " " + std::string(reader.fault().reason);
}

std::string response_verdict(std::string_view input, uint32_t seed) {
    HttpResponseReader reader;
    HttpResponseReader::State state{};
    growing(input, seed, [&](std::string_view received) { state = reader.look(received); });
    if (state == HttpResponseReader::State::need_more) return "need more";
    if (state == HttpResponseReader::State::refused) return "refused: " + std::string(reader.fault());
    return std::to_string(reader.status()) + " after " + std::to_string(reader.head_size());
}

std::string socks5_verdict(std::string_view input, uint32_t seed) {
    Socks5Reader reader;
    Socks5Reader::State state{};
    std::string reply;
    growing(input, seed, [&](std::string_view received) { state = reader.look(received, reply); });
    std::string text = "sends " + hexadecimal(reply);
    if (state == Socks5Reader::State::need_more) return text + ", need more";
    if (state == Socks5Reader::State::refused) return text + ", refused: " + std::string(reader.fault());
    const Socks5Request& request = reader.request();
    if (const std::string* name = std::get_if<std::string>(&request.host)) text += ", name=" + *name;
    if (const Ipv4* address = std::get_if<Ipv4>(&request.host))
        text += ", ipv4=" + hexadecimal({reinterpret_cast<const char*>(address->data()), address->size()});
    if (const Ipv6* address = std::get_if<Ipv6>(&request.host))
        text += ", ipv6=" + hexadecimal({reinterpret_cast<const char*>(address->data()), address->size()});
    return text + " port=" + std::to_string(request.port) + " after " + std::to_string(reader.consumed());
}

std::string smtp_verdict(std::string_view input, uint32_t seed) {
    SmtpRefusal refusal("no mail");
    SmtpRefusal::State state{};
    std::string reply;
    in_pieces(input, seed, [&](std::string_view piece) { state = refusal.take(piece, reply); });
    return base::printable(reply) + (state == SmtpRefusal::State::close ? " close" : " open");
}

std::string frames_verdict(std::string_view input, uint32_t seed) {
    std::string buffer, text;
    bool is_refused = false;
    in_pieces(input, seed, [&](std::string_view piece) {
        buffer += piece;
        std::string_view rest = buffer;
        for (DnsFrame frame; !is_refused;) {
            frame = take_dns_frame(rest);
            if (frame.state == DnsFrame::State::need_more) break;
            is_refused = frame.state == DnsFrame::State::refused;
            text += is_refused ? "refused" : "[" + hexadecimal(frame.message) + "] ";
        }
        buffer.erase(0, buffer.size() - rest.size());
    });
    return is_refused ? text : text + "need more";
}

std::string chunked_verdict(std::string_view input, uint32_t seed) {
    HttpRequest request;
    request.body = HttpRequest::Body::chunked;
    HttpBody body(request);
    size_t taken = 0;
    in_pieces(input, seed, [&](std::string_view piece) { taken += body.take(piece); });
    static constexpr const char* kStates[] = {"open", "complete", "malformed"};
    return kStates[static_cast<int>(body.state())] + (" after " + std::to_string(taken));
}

std::string guess_verdict(std::string_view input, uint32_t seed) {
    static constexpr const char* kProtocols[] = {"undecided",    "TLS", "SSL 2",      "HTTP/1", "HTTP/2",
                                                 "PROXY header", "SSH", "PostgreSQL", "git",    "other"};
    ProtocolGuess guess;
    in_pieces(input.substr(0, kMaximumGuessBytes), seed, [&](std::string_view piece) { guess.take(piece); });
    Protocol protocol = guess.take({});
    bool is_too_long = protocol == Protocol::undecided && input.size() >= kMaximumGuessBytes;
    if (is_too_long) protocol = Protocol::http1;
    return protocol == guess_protocol(input) ? kProtocols[static_cast<int>(protocol)] : "two guesses";
}

std::string disagreement(VerdictFunction verdict, std::string_view input) {
    if (input.empty()) return "";  // there is no piece to show
    std::string line = verdict(input, kWhole);
    for (uint32_t seed = kBytewise; seed <= kBytewise + kRandomManners; ++seed) {
        std::string other = verdict(input, seed);
        if (other != line) return "pieces disagree: '" + line + "' and '" + other + "'";
    }
    return "";
}

std::string agreed(VerdictFunction verdict, std::string_view input) {
    std::string fault = disagreement(verdict, input);
    return fault.empty() ? verdict(input, kWhole) : fault;
}

std::string bytes(std::string_view hexadecimal) {
    std::string result;
    std::string digits;
    for (char digit : hexadecimal) {
        if (digit == ' ') continue;
        digits += digit;
        if (digits.size() < 2) continue;
        result += static_cast<char>(std::stoi(digits, nullptr, 16));
        digits.clear();
    }
    return result;
}

std::string hexadecimal(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (char byte : bytes) {
        text += kDigits[static_cast<unsigned char>(byte) >> 4];
        text += kDigits[static_cast<unsigned char>(byte) & 0xf];
    }
    return text;
}

}  // namespace network::wire
