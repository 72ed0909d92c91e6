// SPDX-License-Identifier: MIT
#include "network/gateway/first_flight.h"

#include <algorithm>

namespace network::gateway {
namespace {

using wire::Protocol;

constexpr std::string_view kBlanks = " \t\v\f";

bool is_token_character(char letter) {
    bool is_alphanumeric = (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
                           (letter >= 'a' && letter <= 'z');
    return is_alphanumeric || std::string_view("!#$%&'*+-.^_`|~").find(letter) != std::string_view::npos;
}

bool has_version(std::string_view line) {
    constexpr std::string_view kVersion = "http/";
    for (size_t at = 0; at + kVersion.size() <= line.size(); ++at) {
        if (wire::equals_ignoring_case(line.substr(at, kVersion.size()), kVersion)) return true;
    }
    return false;
}

Protocol guess_from_line(std::string_view first) {
    size_t start = first.find_first_not_of("\r\n \t\v\f");
    bool is_too_long = first.size() >= wire::kMaximumGuessBytes;
    Protocol unknown = is_too_long ? Protocol::http1 : Protocol::undecided;
    if (start == std::string_view::npos) return unknown;
    std::string_view line = first.substr(start);
    auto method = static_cast<size_t>(std::ranges::find_if_not(line, is_token_character) - line.begin());
    if (method == line.size()) return unknown;
    if (method == 0 || kBlanks.find(line[method]) == std::string_view::npos) return Protocol::other;
    size_t end = line.find('\n');
    if (end == std::string_view::npos) return unknown;
    return has_version(line.substr(0, end)) ? Protocol::http1 : Protocol::other;
}

}  // namespace

Protocol guess_strictly(std::string_view first) {
    Protocol guess = wire::guess_protocol(first);
    return guess == Protocol::other ? guess_from_line(first) : guess;
}

FirstFlight::State FirstFlight::refuse(Objection objection) {
    objection_ = std::move(objection);
    return State::refused;
}

FirstFlight::State FirstFlight::look(std::string_view received, const Expectation& expected) {
    if (protocol_ == Protocol::undecided) protocol_ = guess_strictly(received);
    switch (protocol_) {
        case Protocol::undecided:
            return State::need_more;
        case Protocol::tls:
            return look_at_hello(received, expected);
        case Protocol::http1:
            return State::http;
        case Protocol::http2:
            return refuse({.reason = "HTTP/2 without TLS, whose requests can't be judged one by one"});
        case Protocol::ssh:
        case Protocol::socks5:
        case Protocol::other:
            break;
    }
    return State::pass;
}

FirstFlight::State FirstFlight::look_at_hello(std::string_view received, const Expectation& expected) {
    switch (hello_.look(received)) {
        case wire::ClientHelloReader::State::need_more:
            return State::need_more;
        case wire::ClientHelloReader::State::complete:
            break;
        case wire::ClientHelloReader::State::not_tls:
        case wire::ClientHelloReader::State::refused:
            return refuse({.reason = "the TLS hello can't be understood: " + std::string(hello_.fault()),
                           .alert = wire::TlsAlert::decode_error});
    }
    if (auto objection = judge_server_name(expected, hello_.hello())) return refuse(std::move(*objection));
    return State::pass;
}

}  // namespace network::gateway
