// SPDX-License-Identifier: MIT
// Parses a complete head: request line, fields, then combinations of fields.
#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "network/wire/http/http_head.h"

namespace network::wire {
namespace {

constexpr HttpFault kRequestLine{400, "the request line is not 'METHOD target HTTP/1.x'"};
constexpr HttpFault kMethod{400, "the method is malformed"};
constexpr HttpFault kVersion{505, "the protocol is not HTTP/1.0 or HTTP/1.1"};
constexpr HttpFault kTarget{400, "the target is malformed"};
constexpr HttpFault kScheme{400, "only http:// is served in absolute form; https goes through CONNECT"};
constexpr HttpFault kConnectPort{400, "CONNECT wants host:port"};
constexpr HttpFault kConnectBody{400, "CONNECT takes no body"};
constexpr HttpFault kField{400, "a header field is malformed"};
constexpr HttpFault kManyFields{431, "the request has more than 128 header fields"};
constexpr HttpFault kNoHost{400, "the request has no Host field"};
constexpr HttpFault kTwoHosts{400, "the request has several Host fields"};
constexpr HttpFault kHost{400, "the Host field is malformed"};
constexpr HttpFault kOtherHost{400, "the Host field does not name the target"};
constexpr HttpFault kTwoLengths{400, "the request has several Content-Length fields"};
constexpr HttpFault kLength{400, "the Content-Length field is malformed"};
constexpr HttpFault kLengthAndCoding{400, "the request has both Content-Length and Transfer-Encoding"};
constexpr HttpFault kCoding{501, "the only transfer coding served is chunked, once, in HTTP/1.1"};
constexpr HttpFault kConnectionNames{400, "the Connection field names a field that frames the request"};

constexpr uint16_t kDefaultPort = 80;

bool is_token(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, base::is_token_character);
}

// Bytes above ASCII are forbidden, but common programs send them for paths that users type, and they are
// harmless. '#' starts a fragment, which is never sent.
bool is_path(std::string_view text) {
    return std::ranges::all_of(text, [](char letter) {
        auto byte = static_cast<unsigned char>(letter);
        return byte > ' ' && byte != 0x7f && letter != '#';
    });
}

const HttpFault* parse_absolute(std::string_view target, HttpRequest& request) {
    constexpr std::string_view kPrefix = "http://";
    if (!base::equals_ignoring_case(target.substr(0, kPrefix.size()), kPrefix)) return &kScheme;
    target.remove_prefix(kPrefix.size());
    size_t end = std::min(target.find_first_of("/?"), target.size());
    request.form = HttpRequest::Form::absolute;
    request.target = parse_authority(target.substr(0, end));
    request.path = target.substr(end);
    if (request.path.empty() && request.method == "OPTIONS") {
        request.path = "*";
    } else if (!request.path.starts_with('/')) {
        request.path.insert(0, "/");
    }
    return request.target && is_path(request.path) ? nullptr : &kTarget;
}

const HttpFault* parse_target(std::string_view target, HttpRequest& request) {
    if (request.method == "CONNECT") {
        request.form = HttpRequest::Form::authority;
        request.target = parse_authority(target);
        return request.target && request.target->port ? nullptr : &kConnectPort;
    }
    if (target.starts_with('/')) {
        request.form = HttpRequest::Form::origin;
        request.path = target;
        return is_path(target) ? nullptr : &kTarget;
    }
    if (target == "*" && request.method == "OPTIONS") {
        request.form = HttpRequest::Form::asterisk;
        request.path = target;
        return nullptr;
    }
    if (target.find("://") == std::string_view::npos) return &kTarget;
    return parse_absolute(target, request);
}

const HttpFault* parse_request_line(std::string_view line, HttpRequest& request) {
    size_t first = line.find(' '), last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) return &kRequestLine;
    std::string_view version = line.substr(last + 1);
    if (!version.starts_with("HTTP/")) return &kRequestLine;
    if (version != "HTTP/1.1" && version != "HTTP/1.0") return &kVersion;
    request.minor_version = version.back() - '0';
    request.method = line.substr(0, first);
    if (request.method.size() > kMaximumMethod || !is_token(request.method)) return &kMethod;
    return parse_target(line.substr(first + 1, last - first - 1), request);
}

const HttpFault* parse_fields(std::string_view lines, HttpRequest& request) {
    while (lines != "\r\n") {
        size_t end = lines.find("\r\n");
        std::string_view line = lines.substr(0, end);
        lines.remove_prefix(end + 2);
        size_t colon = line.find(':');
        if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return &kField;
        if (request.fields.size() == kMaximumFields) return &kManyFields;
        request.fields.push_back({.name = std::string(line.substr(0, colon)),
                                  .value = std::string(base::trim(line.substr(colon + 1)))});
    }
    return nullptr;
}

// Null if absent. Sets `is_repeated` if there are several.
const HttpField* find_field(const HttpRequest& request, std::string_view name, bool& is_repeated) {
    const HttpField* found = nullptr;
    for (const HttpField& field : request.fields) {
        if (!base::equals_ignoring_case(field.name, name)) continue;
        is_repeated = found != nullptr;
        found = &field;
        if (is_repeated) break;
    }
    return found;
}

const HttpFault* read_host(HttpRequest& request) {
    bool is_repeated = false;
    const HttpField* field = find_field(request, "Host", is_repeated);
    if (is_repeated) return &kTwoHosts;
    if (!field) return request.minor_version == 0 ? nullptr : &kNoHost;
    request.host = parse_authority(field->value);
    if (!request.host) return &kHost;
    if (!request.target) return nullptr;
    uint16_t target_port = request.target->port.value_or(kDefaultPort);
    // Some programs omit the port of a CONNECT in Host.
    uint16_t usual_port = request.form == HttpRequest::Form::authority ? target_port : kDefaultPort;
    bool agrees = base::equals_ignoring_case(request.host->host, request.target->host) &&
                  request.host->is_ipv6 == request.target->is_ipv6 &&
                  request.host->port.value_or(usual_port) == target_port;
    return agrees ? nullptr : &kOtherHost;
}

const HttpFault* read_body(HttpRequest& request) {
    bool has_two_lengths = false, has_two_codings = false;
    const HttpField* length = find_field(request, "Content-Length", has_two_lengths);
    const HttpField* coding = find_field(request, "Transfer-Encoding", has_two_codings);
    if (has_two_lengths) return &kTwoLengths;
    if (length && coding) return &kLengthAndCoding;
    if (coding) {
        bool is_served = !has_two_codings && request.minor_version == 1 &&
                         base::equals_ignoring_case(coding->value, "chunked");
        request.body = HttpRequest::Body::chunked;
        return is_served ? nullptr : &kCoding;
    }
    if (!length) return nullptr;
    const std::optional<uint64_t> number = base::parse_number<uint64_t>(length->value);
    if (!number || *number > INT64_MAX) return &kLength;
    request.length = *number;
    request.body = request.length > 0 ? HttpRequest::Body::sized : HttpRequest::Body::none;
    return nullptr;
}

const HttpFault* read_connection(HttpRequest& request) {
    bool closes = false, keeps = false, upgrades = false;
    for (const HttpField& field : request.fields) {
        if (!base::equals_ignoring_case(field.name, "Connection")) continue;
        for (std::string_view token : base::split(field.value, ',')) {
            token = base::trim(token);
            closes |= base::equals_ignoring_case(token, "close");
            keeps |= base::equals_ignoring_case(token, "keep-alive");
            upgrades |= base::equals_ignoring_case(token, "upgrade");
            for (std::string_view framing : {"Host", "Content-Length", "Transfer-Encoding"}) {
                if (base::equals_ignoring_case(token, framing)) return &kConnectionNames;
            }
        }
    }
    request.keeps_alive = !closes && (request.minor_version == 1 || keeps);
    bool is_repeated = false;
    const HttpField* upgrade = find_field(request, "Upgrade", is_repeated);
    request.wants_websocket = upgrades && upgrade && !is_repeated && request.minor_version == 1 &&
                              request.method == "GET" && request.body == HttpRequest::Body::none &&
                              base::equals_ignoring_case(upgrade->value, "websocket");
    return nullptr;
}

}  // namespace

const HttpFault* parse_http_head(std::string_view head, HttpRequest& request) {
    request.head_size = head.size();
    size_t end = head.find("\r\n");
    if (end == std::string_view::npos || !head.ends_with("\r\n\r\n")) return &kRequestLine;
    if (const HttpFault* fault = parse_request_line(head.substr(0, end), request)) return fault;
    if (const HttpFault* fault = parse_fields(head.substr(end + 2), request)) return fault;
    if (const HttpFault* fault = read_host(request)) return fault;
    if (const HttpFault* fault = read_body(request)) return fault;
    if (request.form == HttpRequest::Form::authority && request.body != HttpRequest::Body::none) {
        return &kConnectBody;
    }
    return read_connection(request);
}

}  // namespace network::wire
