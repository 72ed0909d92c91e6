// SPDX-License-Identifier: MIT
// HTTP/2 toward a client in the jail, without a socket: bytes of one connection in and out, and for each
// stream a request and an answer in HTTP/1.1. A stream is read as if it were a connection of its own, with
// one request.
//
//   bytes ─► nghttp2 ─► take_request(): head, chunks, trailers
//   answer(): head, body, trailers ─► nghttp2 ─► bytes
//
// Memory: kMostStreams streams, each with a head of 16 KiB, kWindow bytes of its request and kMostWaiting of
// its answer.
//
// Threats: smuggling (heads.h), floods (frame_budget.h), a client that never reads, and one that never ends a
// request. Tests: tests/http2/server_session_test.cc, and fuzz_http2_server.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "network/http2/frame_budget.h"
#include "network/http2/session.h"
#include "network/wire/http/http_exchange.h"
#include "network/wire/http/http_response.h"

namespace network::http2 {

class ServerSession {
  public:
    static constexpr uint32_t kMostStreams = 100;
    static constexpr int32_t kWindow = 65535;
    static constexpr size_t kMostWaiting = 64 << 10;
    static constexpr int kLingering = 10;  // seconds without a byte of a request that was answered

    ServerSession();
    ServerSession(const ServerSession&) = delete;
    ServerSession& operator=(const ServerSession&) = delete;

    // Bytes of the client.
    void receive(std::string_view bytes);
    // Appends bytes for the client, until `out` has as many as this.
    void take_output(std::string& out, size_t most);
    // Once a second.
    void sweep();
    // Nothing more is read.
    void close();
    // Neither side has anything to send.
    bool is_over() const;
    // Why the connection ended, if the client broke the protocol.
    const std::string& fault() const { return fault_; }

    // A stream whose request was not handed out yet; 0: none.
    int32_t next_request();
    // Appends bytes of its request, and returns how many.
    size_t take_request(int32_t id, std::string& plain);
    // Bytes of its answer. Returns how many were used; the rest must wait until the client has read more.
    size_t answer(int32_t id, std::string_view bytes);
    // No further byte of the answer comes. An answer that ends so is complete; any other is reset.
    void end_answer(int32_t id);
    // `is_untouched`: nothing of the request was processed, so the client may send it again.
    void reset(int32_t id, bool is_untouched = false);
    // The client does not wait for the answer any more.
    bool is_gone(int32_t id) const;
    // The stream is not asked for again.
    void drop(int32_t id);

    size_t streams() const { return streams_.size(); }

  private:
    struct Stream {
        HeaderBlock block;
        std::string head, data, trailers;  // of the request, not handed out yet
        bool is_known = false;             // its head was complete
        bool is_chunked = false;
        bool has_ended = false, has_passed_end = false;
        bool is_discarded = false;  // the request is not read any more
        std::string received;       // of the head of the answer
        wire::HttpResponseHead answer_head{false};
        wire::HttpBody body{wire::HttpBody::Framing::none, 0};
        Outgoing out;
        bool answers_head = false;
        bool has_head = false;  // of the answer
        bool is_closed = false, is_gone = false, is_dropped = false;
        std::optional<int> lingers;  // the answer was sent, and the client sends its request on: seconds
    };
    struct Hooks;

    Stream* find(int32_t stream);
    const Stream* find(int32_t stream) const;
    void take_block(int32_t id, Stream& stream, bool has_body);
    void take_trailers(int32_t id, Stream& stream);
    void refuse(int32_t id, Stream& stream, int status, std::string_view reason);
    size_t take_head(int32_t id, Stream& stream, std::string_view bytes);
    void finish(int32_t id, Stream& stream);
    void discard(int32_t id, Stream& stream);
    void close_stream(int32_t id, bool has_failed);
    bool charge();
    void fail(std::string fault, uint32_t code);

    FrameBudget budget_{FrameBudget::kPreface};
    std::map<int32_t, Stream> streams_;
    std::deque<int32_t> requests_;
    std::string fault_;
    bool has_failed_ = false;
    Session session_;  // calls the others until it is destroyed
};

}  // namespace network::http2
