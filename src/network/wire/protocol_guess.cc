// SPDX-License-Identifier: MIT
#include "network/wire/protocol_guess.h"

#include <algorithm>

#include "network/wire/http_head.h"

namespace network::wire {
namespace {

// Bytes that name a protocol by themselves.
struct Opening {
    std::string_view bytes;
    Protocol protocol;
};

constexpr Opening kOpenings[] = {
    {"\x16\x03", Protocol::tls},  // a handshake record of version 3.x
    {"SSH-", Protocol::ssh},
    {"\x05", Protocol::socks5},
    {"PRI * HTTP/2.0\r\n", Protocol::http2},
};

bool is_method_character(char letter) {
    return (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
}

// Any word may be a method, and servers answer to unknown ones; so it is the end of the request line that
// tells HTTP from other protocols that begin with a word.
Protocol guess_from_request_line(std::string_view first) {
    size_t method = 0;
    while (method < first.size() && method <= kMaximumMethod && is_method_character(first[method])) ++method;
    if (method == first.size()) return method > kMaximumMethod ? Protocol::other : Protocol::undecided;
    if (method == 0 || method > kMaximumMethod || first[method] != ' ') return Protocol::other;
    size_t end = first.substr(0, kMaximumGuessBytes).find('\n');
    if (end == std::string_view::npos) {
        return first.size() >= kMaximumGuessBytes ? Protocol::http1 : Protocol::undecided;
    }
    bool has_version = first.substr(0, end).find(" HTTP/") != std::string_view::npos;
    return has_version ? Protocol::http1 : Protocol::other;
}

}  // namespace

Protocol guess_protocol(std::string_view first) {
    bool may_become_one = first.empty();
    for (const Opening& opening : kOpenings) {
        if (first.starts_with(opening.bytes)) return opening.protocol;
        may_become_one |= opening.bytes.starts_with(first);
    }
    return may_become_one ? Protocol::undecided : guess_from_request_line(first);
}

}  // namespace network::wire
