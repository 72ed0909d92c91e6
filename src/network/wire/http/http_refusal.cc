// SPDX-License-Identifier: MIT
#include "network/wire/http/http_refusal.h"

#include <algorithm>
#include <iterator>

#include "base/encoding/json.h"

namespace network::wire {
namespace {

struct StatusRow {
    int status;
    std::string_view phrase;
    std::string_view error;
    bool may_retry;
};

constexpr StatusRow kStatuses[] = {
    {403, "Forbidden", "refused by the sandbox's network policy", false},
    {400, "Bad Request", "the sandbox's gateway refuses this request as malformed", false},
    {407, "Proxy Authentication Required", "the proxy of this site wants a password", false},
    {431, "Request Header Fields Too Large", "the request head is too large for the sandbox's gateway",
     false},
    {501, "Not Implemented", "the sandbox's gateway does not serve this request", false},
    {502, "Bad Gateway", "the sandbox's gateway could not reach the host", true},
    {503, "Service Unavailable", "the sandbox's gateway has too many connections", true},
    {504, "Gateway Timeout", "the host did not answer the sandbox's gateway in time", true},
    {505, "HTTP Version Not Supported", "the sandbox's gateway does not serve this request", false},
};

std::string response_of(int status, std::string_view phrase, const std::string& body, bool answers_head) {
    std::string response = "HTTP/1.1 " + std::to_string(status) + " ";
    response += phrase;
    response += "\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nConnection: close\r\n";
    response += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    if (!answers_head) response += body;
    return response;
}

}  // namespace

std::string http_answer(const std::string& body, bool answers_head) {
    return response_of(200, "OK", body, answers_head);
}

std::string http_refusal(const HttpRefusal& refusal) {
    const StatusRow* found = std::ranges::find(kStatuses, refusal.status, &StatusRow::status);
    const StatusRow& row = found == std::end(kStatuses) ? kStatuses[0] : *found;

    base::Json object = base::Json::object();
    object.set("error", row.error);
    if (!refusal.rule.empty()) object.set("rule", refusal.rule);
    object.set("reason", refusal.reason);
    object.set("do_not_retry", !row.may_retry);
    return response_of(row.status, row.phrase, object.dump(-1) + "\n", refusal.answers_head);
}

}  // namespace network::wire
