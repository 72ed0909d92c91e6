// SPDX-License-Identifier: MIT
// Greeting: version, count, methods. Request: version, command, zero, kind of address, address, port.
#include "network/wire/socks5.h"

#include <algorithm>

#include "network/wire/bytes.h"

namespace network::wire {
namespace {

constexpr uint8_t kSocksVersion = 5;
constexpr char kNoAuthentication = 0;
constexpr uint8_t kNoMethod = 0xff;
constexpr uint8_t kConnect = 1;

enum class AddressKind : uint8_t { ipv4 = 1, name = 3, ipv6 = 4 };

template <typename Address>
Address address_from(std::string_view bytes) {
    Address address{};
    std::ranges::copy(bytes, address.begin());
    return address;
}

}  // namespace

Socks5Reader::State Socks5Reader::refuse(std::string_view fault) {
    state_ = State::refused;
    fault_ = fault;
    return state_;
}

Socks5Reader::State Socks5Reader::refuse(Socks5Code code, std::string_view fault, std::string& reply) {
    reply += socks5_reply(code);
    return refuse(fault);
}

Socks5Reader::State Socks5Reader::read_greeting(std::string_view received, std::string& reply) {
    Cursor cursor(received);
    uint8_t version = cursor.u8();
    if (cursor.has_failed()) return State::need_more;
    if (version != kSocksVersion) return refuse("this is not SOCKS5");
    std::string_view methods = cursor.take(cursor.u8());
    if (cursor.has_failed()) return State::need_more;
    consumed_ = received.size() - cursor.left();
    append_u8(reply, kSocksVersion);
    if (methods.find(kNoAuthentication) == std::string_view::npos) {
        append_u8(reply, kNoMethod);
        return refuse("the client insists on authentication");
    }
    append_u8(reply, static_cast<unsigned>(kNoAuthentication));
    is_greeted_ = true;
    return State::need_more;
}

// Judges each field when it arrives, so that a refusal does not wait for the rest of an address.
Socks5Reader::State Socks5Reader::read_request(std::string_view received, std::string& reply) {
    Cursor cursor(received.substr(consumed_));
    uint8_t version = cursor.u8();
    if (cursor.has_failed()) return State::need_more;
    if (version != kSocksVersion)
        return refuse(Socks5Code::general_failure, "the request is not SOCKS5", reply);
    uint8_t command = cursor.u8();
    if (cursor.has_failed()) return State::need_more;
    if (command != kConnect) {
        return refuse(Socks5Code::command_not_supported, "only CONNECT is served, no BIND, no UDP", reply);
    }
    uint8_t reserved = cursor.u8();
    if (reserved != 0) return refuse(Socks5Code::general_failure, "the reserved byte is not zero", reply);
    auto kind = static_cast<AddressKind>(cursor.u8());
    if (cursor.has_failed()) return State::need_more;

    std::string_view address;
    bool is_name = kind == AddressKind::name;
    if (kind == AddressKind::ipv4) {
        request_.host = address_from<Ipv4>(address = cursor.take(sizeof(Ipv4)));
    } else if (kind == AddressKind::ipv6) {
        request_.host = address_from<Ipv6>(address = cursor.take(sizeof(Ipv6)));
    } else if (is_name) {
        address = cursor.take(cursor.u8());
    } else {
        return refuse(Socks5Code::address_type_not_supported, "the kind of address is unknown", reply);
    }
    request_.port = cursor.u16();
    if (cursor.has_failed()) return State::need_more;
    if (is_name && !is_host_name(address)) {
        return refuse(Socks5Code::general_failure, "the name is not a host name", reply);
    }
    if (request_.port == 0) return refuse(Socks5Code::general_failure, "the port is zero", reply);
    if (is_name) request_.host = std::string(address);
    consumed_ = received.size() - cursor.left();
    state_ = State::complete;
    return state_;
}

Socks5Reader::State Socks5Reader::look(std::string_view received, std::string& reply) {
    if (state_ == State::need_more && !is_greeted_) read_greeting(received, reply);
    if (state_ == State::need_more && is_greeted_ && received.size() >= consumed_)
        read_request(received, reply);
    return state_;
}

std::string socks5_reply(Socks5Code code) {
    std::string reply;
    append_u8(reply, kSocksVersion);
    append_u8(reply, static_cast<unsigned>(code));
    append_u8(reply, 0);
    append_u8(reply, static_cast<unsigned>(AddressKind::ipv4));
    append_u32(reply, 0);
    append_u16(reply, 0);
    return reply;
}

}  // namespace network::wire
