// SPDX-License-Identifier: MIT
// The gateway's own HTTP responses: refusals that programs can parse and users can understand.
#pragma once

#include <string>
#include <string_view>

namespace network::wire {

constexpr std::string_view kConnectEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";

struct HttpRefusal {
    int status = 403;       // one of the table in http_refusal.cc; any other is sent as 403
    std::string_view rule;  // may be empty
    std::string_view reason;
    bool answers_head = false;  // the request is HEAD: send the head alone
};

// A complete response with a JSON body {error, rule, reason, do_not_retry}, its exact length, and
// "Connection: close". The status decides do_not_retry.
std::string http_refusal(const HttpRefusal& refusal);

// A complete response "200 OK" with this JSON body.
std::string http_answer(const std::string& body, bool answers_head);

}  // namespace network::wire
