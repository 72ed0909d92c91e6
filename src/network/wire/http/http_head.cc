// SPDX-License-Identifier: MIT
// The scan for the empty line checks every byte once. The lines are parsed when all are there
//.
#include "network/wire/http/http_head.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "base/parse.h"
#include "base/text.h"

namespace network::wire {
namespace {

bool is_host_character(char letter) {
    return base::is_name_character(letter) || letter == '-';
}

bool is_ipv6_text(std::string_view text) {
    // inet_pton stops at a NUL byte.
    if (text.size() >= INET6_ADDRSTRLEN || text.find('\0') != std::string_view::npos) return false;
    in6_addr address;
    return inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1;
}

}  // namespace

bool is_host_name(std::string_view text) {
    if (text.ends_with('.')) text.remove_suffix(1);
    if (text.empty() || text.size() > kMaximumHostName) return false;
    size_t label = 0;
    for (char letter : text) {
        if (letter == '.') {
            if (label == 0) return false;
            label = 0;
        } else if (!is_host_character(letter) || ++label > kMaximumLabel) {
            return false;
        }
    }
    return label > 0;
}

std::optional<Authority> parse_authority(std::string_view text) {
    Authority authority;
    size_t host_end = 0;
    if (text.starts_with('[')) {
        size_t bracket = text.find(']');
        if (bracket == std::string_view::npos) return std::nullopt;
        authority.host = text.substr(1, std::min<size_t>(bracket - 1, INET6_ADDRSTRLEN));
        authority.is_ipv6 = true;
        if (!is_ipv6_text(authority.host)) return std::nullopt;
        host_end = bracket + 1;
    } else {
        host_end = std::min(text.find(':'), text.size());
        if (!is_host_name(text.substr(0, host_end))) return std::nullopt;
        authority.host = text.substr(0, host_end);
    }
    std::string_view rest = text.substr(host_end);
    if (rest.empty()) return authority;
    if (rest[0] != ':') return std::nullopt;
    authority.port = base::parse_port(rest.substr(1));
    if (!authority.port) return std::nullopt;
    return authority;
}

std::string authority_text(const Authority& authority) {
    std::string text = authority.is_ipv6 ? "[" + authority.host + "]" : authority.host;
    if (authority.port) text += ":" + std::to_string(*authority.port);
    return text;
}

namespace {

constexpr HttpFault kControl{400, "the head holds a control character"};
constexpr HttpFault kBareLineFeed{400, "a line of the head ends with LF alone"};
constexpr HttpFault kBareReturn{400, "the head holds CR without LF"};
constexpr HttpFault kFolded{400, "a line of the head starts with a blank"};
constexpr HttpFault kTooLong{431, "the head is longer than 16 KiB"};

bool is_control(char letter) {
    auto byte = static_cast<unsigned char>(letter);
    return (byte < 0x20 && letter != '\t' && letter != '\r' && letter != '\n') || byte == 0x7f;
}

}  // namespace

const HttpFault* HttpHeadScanner::check_byte(std::string_view received) const {
    char byte = received[looked_];
    bool follows_return = looked_ > 0 && received[looked_ - 1] == '\r';
    if (is_control(byte)) return &kControl;
    if (byte == '\n' && !follows_return) return &kBareLineFeed;
    if (byte != '\n' && follows_return) return &kBareReturn;
    if ((byte == ' ' || byte == '\t') && looked_ == line_start_) return &kFolded;
    return nullptr;
}

const HttpFault* HttpHeadScanner::look(std::string_view received, size_t& head_size) {
    for (; looked_ < received.size(); ++looked_) {
        if (looked_ == kMaximumHead) return &kTooLong;
        // Most bytes: a visible character behind another byte of its line, which may be anything but CR.
        bool is_within_line = looked_ > line_start_ && received[looked_ - 1] != '\r';
        if (is_within_line && received[looked_] > ' ' && received[looked_] <= '~') continue;
        if (const HttpFault* fault = check_byte(received)) return fault;
        if (received[looked_] != '\n') continue;
        bool is_empty_line = looked_ == line_start_ + 1;
        line_start_ = looked_ + 1;
        if (!is_empty_line) continue;
        head_size = line_start_;
        return nullptr;
    }
    return nullptr;
}

HttpHeadReader::State HttpHeadReader::refuse(const HttpFault& fault) {
    state_ = State::refused;
    fault_ = fault;
    return state_;
}

HttpHeadReader::State HttpHeadReader::look(std::string_view received) {
    if (state_ != State::need_more) return state_;
    size_t head_size = 0;
    if (const HttpFault* fault = scanner_.look(received, head_size)) return refuse(*fault);
    if (head_size == 0) return State::need_more;
    if (const HttpFault* fault = parse_http_head(received.substr(0, head_size), request_)) {
        return refuse(*fault);
    }
    state_ = State::complete;
    return state_;
}

// Parses a complete head: request line, fields, then combinations of fields.

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

constexpr std::array<bool, 256> token_characters() {
    std::array<bool, 256> table{};
    for (size_t byte = 0; byte < table.size(); ++byte)
        table[byte] = base::is_token_character(static_cast<char>(byte));
    return table;
}
constexpr std::array<bool, 256> kTokenCharacters = token_characters();

bool is_token(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char letter) {
        return kTokenCharacters[static_cast<unsigned char>(letter)];
    });
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

}  // namespace

const HttpFault* parse_http_fields(std::string_view lines, std::vector<HttpField>& fields) {
    constexpr size_t kUsualFields = 16;
    fields.reserve(kUsualFields);
    while (lines != "\r\n") {
        size_t end = lines.find("\r\n");
        std::string_view line = lines.substr(0, end);
        lines.remove_prefix(end + 2);
        size_t colon = line.find(':');
        if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return &kField;
        if (fields.size() == kMaximumFields) return &kManyFields;
        fields.push_back({.name = std::string(line.substr(0, colon)),
                          .value = std::string(base::trim(line.substr(colon + 1)))});
    }
    return nullptr;
}

const HttpField* find_http_field(const std::vector<HttpField>& fields, std::string_view name,
                                 bool& is_repeated) {
    const HttpField* found = nullptr;
    for (const HttpField& field : fields) {
        if (!base::equals_ignoring_case(field.name, name)) continue;
        is_repeated = found != nullptr;
        found = &field;
        if (is_repeated) break;
    }
    return found;
}

namespace {

const HttpField* find_field(const HttpRequest& request, std::string_view name, bool& is_repeated) {
    return find_http_field(request.fields, name, is_repeated);
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
    if (const HttpFault* fault = parse_http_fields(head.substr(end + 2), request.fields)) return fault;
    if (const HttpFault* fault = read_host(request)) return fault;
    if (const HttpFault* fault = read_body(request)) return fault;
    if (request.form == HttpRequest::Form::authority && request.body != HttpRequest::Body::none) {
        return &kConnectBody;
    }
    return read_connection(request);
}

namespace {

// Fields that end at this hop or that we write ourselves. Upgrade to anything but a websocket is also
// dropped: an upgrade to HTTP/2 would open a tunnel in which a client could request other hosts.
constexpr std::string_view kOwnFields[] = {
    "Host",
    "Connection",
    "Proxy-Connection",
    "Proxy-Authorization",
    "Proxy-Authenticate",
    "Keep-Alive",
    "HTTP2-Settings",
    "TE",
    "Upgrade",
};

bool is_own_field(std::string_view name) {
    return std::ranges::any_of(kOwnFields,
                               [&](std::string_view own) { return base::equals_ignoring_case(name, own); });
}

}  // namespace

bool is_named_by_connection(const HttpRequest& request, std::string_view name) {
    return std::ranges::any_of(request.fields, [&](const HttpField& field) {
        if (!base::equals_ignoring_case(field.name, "Connection")) return false;
        return std::ranges::any_of(base::split(field.value, ','), [&](std::string_view token) {
            return base::equals_ignoring_case(base::trim(token), name);
        });
    });
}

namespace {

void append_field(std::string& head, std::string_view name, std::string_view value) {
    head += name;
    head += ": ";
    head += value;
    head += "\r\n";
}

}  // namespace

std::string forwarded_head(const HttpRequest& request, bool keeps_alive) {
    const std::optional<Authority>& host = request.target ? request.target : request.host;
    std::string target = request.path.empty() && host ? authority_text(*host) : request.path;
    std::string head =
        request.method + " " + target + " HTTP/1." + std::to_string(request.minor_version) + "\r\n";
    if (host) append_field(head, "Host", authority_text(*host));
    for (const HttpField& field : request.fields) {
        if (is_own_field(field.name) || is_named_by_connection(request, field.name)) continue;
        append_field(head, field.name, field.value);
    }
    if (request.wants_websocket) {
        append_field(head, "Connection", "Upgrade");
        append_field(head, "Upgrade", "websocket");
    } else if (!keeps_alive || !request.keeps_alive) {
        append_field(head, "Connection", "close");
    } else if (request.minor_version == 0) {
        append_field(head, "Connection", "keep-alive");
    }
    return head + "\r\n";
}

}  // namespace network::wire
