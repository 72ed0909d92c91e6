// SPDX-License-Identifier: MIT
// The server's side of SOCKS5 (RFC 1928): no authentication, CONNECT alone. Names are passed on as names and
// never resolved here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "network/wire/http/http_head.h"

namespace network::wire {

// 2 + 255 bytes for methods, then a request with the longest name.
constexpr size_t kMaximumSocks5Bytes = 257 + 262;

enum class Socks5Code : uint8_t {
    succeeded = 0,
    general_failure = 1,
    not_allowed = 2,
    network_unreachable = 3,
    host_unreachable = 4,
    connection_refused = 5,
    command_not_supported = 7,
    address_type_not_supported = 8,
};

struct Socks5Request {
    std::variant<std::string, Ipv4, Ipv6> host;  // a name passes is_host_name
    uint16_t port = 0;
};

class Socks5Reader {
  public:
    enum class State { need_more, complete, refused };

    // `received` is everything so far: the bytes of the last call, and more. Appends to `reply` the bytes to
    // send now. After refused, send them and close the connection. After complete, the caller sends
    // socks5_reply with the result.
    State look(std::string_view received, std::string& reply);

    const Socks5Request& request() const { return request_; }  // after complete
    size_t consumed() const { return consumed_; }              // bytes after it are the client's own data
    std::string_view fault() const { return fault_; }          // after refused, for the log

  private:
    State refuse(std::string_view fault);
    State refuse(Socks5Code code, std::string_view fault, std::string& reply);
    State read_greeting(std::string_view received, std::string& reply);
    State read_request(std::string_view received, std::string& reply);

    State state_ = State::need_more;
    bool is_greeted_ = false;
    size_t consumed_ = 0;
    Socks5Request request_;
    std::string_view fault_;
};

// The bound address in it is always 0.0.0.0:0, so that the jail does not learn the host's address.
std::string socks5_reply(Socks5Code code);

}  // namespace network::wire
