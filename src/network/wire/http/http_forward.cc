// SPDX-License-Identifier: MIT
#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "network/wire/http/http_head.h"

namespace network::wire {
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

// Connection lists fields for the next hop alone. The gateway is that hop.
bool is_named_by_connection(const HttpRequest& request, std::string_view name) {
    return std::ranges::any_of(request.fields, [&](const HttpField& field) {
        if (!base::equals_ignoring_case(field.name, "Connection")) return false;
        return std::ranges::any_of(base::split(field.value, ','), [&](std::string_view token) {
            return base::equals_ignoring_case(base::trim(token), name);
        });
    });
}

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
