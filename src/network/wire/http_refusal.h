// SPDX-License-Identifier: MIT
// What the gateway itself answers over HTTP: refusals that a program can read and a person understands.
#pragma once

#include <string>
#include <string_view>

namespace network::wire {

constexpr std::string_view kConnectEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";

struct HttpRefusal {
    int status = 403;       // one of the table in http_refusal.cc; any other is sent as 403
    std::string_view rule;  // empty: none
    std::string_view reason;
    bool answers_head = false;  // a HEAD request gets the head alone
};

// A whole response with a JSON body {error, rule, reason, do_not_retry}, its exact length, and "Connection:
// close". Whether trying again could help follows from the status.
std::string http_refusal(const HttpRefusal& refusal);

// A whole response "200 OK" with this JSON body.
std::string http_answer(const std::string& body, bool answers_head);

}  // namespace network::wire
