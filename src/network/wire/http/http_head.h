// SPDX-License-Identifier: MIT
// Parses one HTTP/1 request head (RFC 9110, 9112), strictly. If a gateway and its server parse a head
// differently, a second request can pass without a check. Faults that a lenient parser would repair are
// refused.
//
// Threat: request smuggling and hosts that differ. Refused: LF alone, CR alone, NUL and other controls,
// folded lines, blanks before a colon, two Content-Length, Content-Length with Transfer-Encoding, a coding
// other than chunked, several Host, a Host other than the target's, a Connection field that lists a field
// which frames the body.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace network::wire {

// Hosts as the protocols spell them. This file only checks the spelling. The rules decide about the meaning,
// the normal form and the permission.

using Ipv4 = std::array<uint8_t, 4>;
using Ipv6 = std::array<uint8_t, 16>;

constexpr size_t kMaximumHostName = 253;
constexpr size_t kMaximumLabel = 63;

// Letters, digits, '-', '_' in labels of 1 to 63. One dot at the end is accepted; the rules remove it.
bool is_host_name(std::string_view text);

struct Authority {
    std::string host;  // without brackets
    bool is_ipv6 = false;
    std::optional<uint16_t> port;
};

// "name", "name:port", "[ipv6]" or "[ipv6]:port". No user, no zone, no empty or zero port.
std::optional<Authority> parse_authority(std::string_view text);
std::string authority_text(const Authority& authority);

constexpr size_t kMaximumHead = 16384;
constexpr size_t kMaximumFields = 128;
constexpr size_t kMaximumMethod = 32;

struct HttpField {
    std::string name;  // as sent
    std::string value;
};

struct HttpRequest {
    enum class Form { origin, absolute, authority, asterisk };
    enum class Body { none, sized, chunked };

    std::string method;
    Form form = Form::origin;
    std::string path;                 // the path in origin form; empty for CONNECT
    std::optional<Authority> target;  // absolute and authority form
    std::optional<Authority> host;    // the Host field; HTTP/1.0 may lack it
    int minor_version = 1;
    bool keeps_alive = true;
    bool wants_websocket = false;  // forward nothing more from the client before the server's 101
    Body body = Body::none;
    uint64_t length = 0;  // of a sized body
    std::vector<HttpField> fields;
    size_t head_size = 0;  // in bytes; the body starts there
};

// Why a head was refused, and the status of the answer.
struct HttpFault {
    int status = 400;
    std::string_view reason;
};

// Finds the empty line that ends a head, of a request or a response, and checks every byte before it.
class HttpHeadScanner {
  public:
    // Null: no fault. `head_size` is set when the end is found and unchanged before.
    const HttpFault* look(std::string_view received, size_t& head_size);

  private:
    const HttpFault* check_byte(std::string_view received) const;

    size_t looked_ = 0;
    size_t line_start_ = 0;
};

class HttpHeadReader {
  public:
    enum class State { need_more, complete, refused };

    // `received` is everything so far: the bytes of the last call, and more. Each byte is processed once.
    State look(std::string_view received);

    const HttpRequest& request() const { return request_; }  // after complete
    const HttpFault& fault() const { return fault_; }        // after refused

  private:
    State refuse(const HttpFault& fault);

    State state_ = State::need_more;
    HttpFault fault_;
    HttpRequest request_;
    HttpHeadScanner scanner_;
};

// The lines after the first one of a head, with the empty line at the end.
const HttpFault* parse_http_fields(std::string_view lines, std::vector<HttpField>& fields);
// Null if the field is absent. Sets `is_repeated` if there are several.
const HttpField* find_http_field(const std::vector<HttpField>& fields, std::string_view name,
                                 bool& is_repeated);

// The head has whole lines and no stray controls. Null: `request` is filled.
const HttpFault* parse_http_head(std::string_view head, HttpRequest& request);

// Connection lists fields for the next hop alone. The gateway is that hop.
bool is_named_by_connection(const HttpRequest& request, std::string_view name);

// The head for the server: origin form, Host of the target, fields for proxies removed. It contains
// "Connection: close", so that the server reads only this request. A caller may set `keeps_alive` if it
// counts the body (http_exchange.h) and judges every following head.
std::string forwarded_head(const HttpRequest& request, bool keeps_alive = false);

}  // namespace network::wire
