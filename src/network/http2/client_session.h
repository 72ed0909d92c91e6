// SPDX-License-Identifier: MIT
// HTTP/2 toward a server, without a socket: requests and answers are HTTP/1.1, one after the other as on a
// connection of HTTP/1.1. So one stream is open at a time, and a side that is not read holds up no other.
//
// Threat: a server that sends frames or heads without end, or answers that a reader of HTTP/1.1 divides
// otherwise. Tests: tests/http2/client_session_test.cc, and fuzz_http2_client.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "network/http2/frame_budget.h"
#include "network/http2/session.h"
#include "network/wire/http/http_exchange.h"

namespace network::http2 {

class ClientSession {
  public:
    ClientSession();
    ClientSession(const ClientSession&) = delete;
    ClientSession& operator=(const ClientSession&) = delete;
    ~ClientSession();

    // Bytes of a request that the gateway wrote: its head comes in one piece.
    void request(std::string_view bytes);
    // Bytes of its body that the server's windows do not take yet.
    size_t waiting() const { return out_.data.size(); }
    // Bytes of the server. Appends what they are in HTTP/1.1.
    void receive(std::string_view bytes, std::string& answer);
    // Appends bytes for the server.
    void take_output(std::string& out);
    // Once a second.
    void refill() { budget_.refill(); }
    // No answer can come any more, and no further request can be made.
    bool is_over() const;
    const std::string& fault() const { return fault_; }

  private:
    struct Hooks;

    void start(std::string_view head);
    void take_block(bool ends);
    void take_data(std::string_view bytes);
    void end_answer();
    void fail(std::string fault);

    FrameBudget budget_{0};
    int32_t stream_ = 0;  // of the request; 0: none is open
    std::string head_;    // of the request so far
    bool has_request_ = false;
    bool answers_head_ = false;
    wire::HttpBody body_{wire::HttpBody::Framing::none, 0};  // of the request
    Outgoing out_;
    HeaderBlock block_;
    std::string answer_;  // made from the bytes of one call
    bool has_answer_head_ = false;
    bool is_chunked_ = false;
    bool has_ended_ = false;  // the answer
    bool is_closing_ = false;
    int interim_ = 0;
    std::string fault_;
    bool has_failed_ = false;
    Session session_;  // calls the others until it is destroyed
};

}  // namespace network::http2
