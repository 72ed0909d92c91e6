// SPDX-License-Identifier: MIT
// The streams of a client's connection of HTTP/2. Each is served by an Interception of its own, which has its
// own connection to the server, as if the client had opened a connection for it. When its answer is complete,
// the Interception serves another stream, so that the connection to the server is used again.
//
// Threat: one connection for several names, which clients of HTTP/2 use if a certificate names both
// (coalescing). The place of every stream is that of the connection, and a request for another name is
// answered with 421 (tests/egress/http2.bats).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/gateway/broker/interception.h"
#include "network/http2/server_session.h"

namespace network::gateway {

class Streams {
  public:
    using Clock = Interception::Clock;
    static constexpr size_t kMostWaiting = 8;  // of those that wait for a stream, after a second
    // Null: there are too many connections.
    using Make = std::function<std::unique_ptr<Interception>(http2::ServerSession&)>;

    Streams(base::EventLoop& loop, Make make) : loop_(loop), make_(std::move(make)) {}

    // Bytes of the client, and for it.
    void receive(std::string_view bytes) { session_.receive(bytes); }
    void take_output(std::string& out, size_t most) { session_.take_output(out, most); }
    // Serves what came.
    void run();
    // No further stream is accepted.
    void close() { session_.close(); }
    // The client ended, with all of its streams.
    void end();
    bool is_over() const { return session_.is_over(); }
    const std::string& fault() const { return session_.fault(); }

    // Once a second. True: there are requests.
    bool sweep(Clock::time_point now);
    void judge_again();

    const std::optional<Address>& address() const { return address_; }
    // Of all streams so far.
    struct Counts {
        uint64_t sent = 0, received = 0, unrecorded = 0;
    };
    Counts counts() const;

  private:
    struct Slot {
        std::unique_ptr<Interception> server;
        int32_t stream = 0;  // 0: it waits for one
    };

    void hand_out(int32_t stream);
    bool tidy(Slot& slot);
    std::vector<Interception*> all() const;
    static void add(Counts& counts, const Interception& one);

    base::EventLoop& loop_;
    Make make_;
    http2::ServerSession session_;
    std::vector<Slot> slots_;
    Counts past_;
    std::optional<Address> address_;
};

}  // namespace network::gateway
