// SPDX-License-Identifier: MIT
// One connection whose requests are read. The client's TLS ends here, with a certificate of the session. Each
// request is judged before the server is dialled, the server's certificate is verified before a value is
// written, and the answer passes back without values (network/exchange).
//
//   opening ─► handshake ─► serving ─► leaving ─► done
//      │           └ HTTP/2 ► streams ──┘
//      └── plain HTTP ────────┘
//
// Of a connection of HTTP/2 each stream is served by an Interception of its own, in place of a connection
// (streams.h). One client connection has one server connection. A request that is refused opens none. If the
// server closes it before a byte of the next request is sent, for instance while the user is asked, another
// one is opened; if it closes it instead of an answer, the client's connection ends too, so that the client
// tries again as it does without the gateway. The relay (relay.h) is not used: every byte passes through the
// readers of network/exchange.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process/event_loop.h"
#include "network/exchange/answer.h"
#include "network/exchange/exchange.h"
#include "network/gateway/broker/broker.h"
#include "network/gateway/connections/first_bytes.h"
#include "network/gateway/connections/route.h"
#include "network/gateway/context.h"
#include "network/gateway/relay/relay.h"
#include "network/http2/client_session.h"
#include "network/http2/server_session.h"
#include "network/tls/endpoint.h"

namespace network::gateway {

class Streams;

class Interception : public base::Watcher {
  public:
    using Clock = base::EventLoop::Clock;
    static constexpr size_t kMostWaiting = 64 << 10;       // bytes for one side; then the other is not read
    static constexpr size_t kLongestQuestion = 1024;       // path and fields of a request that is asked about
    static constexpr std::chrono::seconds kHandshake{10};  // on each side
    static constexpr std::chrono::seconds kIdentification{1};  // of the client's program
    static constexpr std::chrono::seconds kIdle{60};           // until a request begins, and for its head
    static constexpr std::chrono::seconds kLeaving{10};        // without a byte of the client

    struct Opening {
        Stream client;
        Target asked;  // by the client
        Broker::Way way;
        std::string to_client;  // of a proxy: before anything else
        std::string said;       // bytes of the client so far
        // In place of `client`: the streams that take_stream() names, one after the other. `wake` is called
        // when the session may have bytes for the client.
        http2::ServerSession* session = nullptr;
        std::function<void()> wake;
    };
    // How to reach the server; the callback is that of Route.
    using MakeRoute = std::function<std::unique_ptr<Route>(Target, Route::Done)>;
    // Called once, from the loop's deferred calls.
    using Done = std::function<void()>;

    Interception(GatewayContext& context, Opening opening, MakeRoute make_route, Done done);
    ~Interception() override;
    void start();
    // Of streams. 0: waits for the next one.
    void take_stream(int32_t stream);
    void lose_stream();
    void retire() { leave({}); }
    void run();
    bool is_idle() const;
    bool is_finished() const { return phase_ == Phase::finished; }

    void on_ready(uint32_t events, int which) override;
    // Once a second.
    void sweep(Clock::time_point now);
    // New rules do not allow the server any more.
    void cut(std::string reason);
    // There may be new rules about requests. The next request is judged by them, and one of which nothing was
    // forwarded. True: they do not permit the WebSocket that this connection has become, and it was closed.
    bool judge_again();

    const Target& server() const { return server_target_; }
    const std::optional<Address>& address() const { return address_; }
    std::string_view protocol() const { return client_.tls ? "tls" : "http"; }
    uint64_t sent() const;
    uint64_t received() const;
    uint64_t unrecorded() const;  // requests without a line of their own
    // Why it ended, if not in the usual way.
    const std::string& fault() const { return fault_; }
    // The gateway ended it, not one of the two sides.
    bool is_refused() const { return is_refused_; }

  private:
    static constexpr int kClientSide = 0;
    static constexpr int kServerSide = 1;
    enum class Phase { opening, handshake, serving, streams, leaving, finished };
    struct Side {
        Stream stream;
        std::optional<tls::Endpoint> tls;
        std::string out;    // for the socket
        std::string plain;  // received and not used yet
        bool is_readable = true;
        bool is_ending = false;  // the socket reported an end, which may be behind bytes
        bool has_ended = false;  // no further bytes will come
        bool is_broken = false;
        uint64_t sent = 0, received = 0;
        http2::ServerSession* session = nullptr;       // of the client: in place of the socket
        int32_t number = 0;                            // of the stream
        std::unique_ptr<http2::ClientSession> frames;  // of the server: between TLS and `plain`
    };

    bool turn();
    bool advance();
    bool receive(Side& side);
    bool decrypt(Side& side);
    static size_t send(Side& side, std::string_view bytes);
    bool flush(Side& side);
    void write(Side& side, std::string_view bytes);
    bool receive_stream();
    bool flush_stream();
    bool has_frames();
    size_t decrypt_frames();
    void write_frames(std::string_view request);
    static size_t waiting(const Side& side);
    void begin_streams();
    bool serve_streams();
    void drop_streams();

    bool look_at_first_bytes();
    bool find_program();
    void shake_hands();
    std::string program() const;
    void report_distrust(const std::string& fault);
    void note_end();
    bool serve();
    bool take_request();
    bool take_answer();
    void advance_request();
    void ask_user();
    void prepare();
    void get_values();
    void begin_refresh();
    void begin_login();
    void take_values(const std::string& failure);
    void open_server();
    bool is_server_gone() const;
    void lose_idle_server();
    void take_arrival(std::optional<Arrival> arrival, const RouteFailure& failure);
    void send_head();
    void end_exchange();
    void refuse_exchange();
    void answer_failure(int status, std::string_view rule, const std::string& reason);
    void lose_client();
    void lose_server();
    void leave(std::string_view last_words);
    // `may_retry`: the client may send the request again.
    void abort(std::string fault, bool may_retry = false);
    void finish();
    void record(int status, std::string_view code, const std::string& reason);
    bool hold_body(size_t bytes);
    std::string names_of(const std::vector<size_t>& bindings) const;

    GatewayContext& context_;
    Broker& broker_;
    Broker::Way way_;
    Target asked_;
    Target server_target_;
    MakeRoute make_route_;
    Done done_;
    Expectation expected_;
    FirstFlight first_flight_;
    std::shared_ptr<const requests::RequestRules> rules_;  // of the exchange
    exchange::Context exchange_context_;
    std::shared_ptr<tls::ServerContext> certificates_;  // of the client's side

    Phase phase_ = Phase::opening;
    Side client_, server_;
    std::unique_ptr<Streams> streams_;  // of a connection of HTTP/2
    std::function<void()> wake_;
    std::unique_ptr<Route> route_;
    std::optional<Address> address_;
    std::optional<exchange::Exchange> exchange_;
    std::optional<exchange::Answer> answer_;
    std::shared_ptr<const exchange::RedactionForms> forms_;  // of the answer
    std::vector<size_t> used_;                               // bindings of the request
    Approvals::Ticket question_ = 0;                         // about the request; 0: the user is not asked
    bool has_left_ = false;                                  // the client closed its side
    std::unique_ptr<Logins::Refresh> refresh_;               // that the request is
    bool waits_for_values_ = false;
    bool has_values_ = false;
    bool has_continued_ = false;
    bool has_passed_end_ = false;
    bool has_answered_ = false;  // this server connection has answered a request
    bool has_reopened_ = false;  // the server connection, for this request
    bool is_running_ = false;
    bool will_run_ = false;
    bool has_ended_writing_ = false;
    Clock::time_point since_;  // of the phase or of the last byte that it waits for
    Clock::time_point request_since_;
    uint64_t sent_before_ = 0, received_before_ = 0;  // of this request
    uint64_t unrecorded_ = 0;
    size_t held_ = 0;             // bytes of a body that are kept for a rule
    bool has_requested_ = false;  // the client sent a request, so it trusts the session
    enum class Identified { no, asked, yes };
    Identified identified_ = Identified::no;
    std::string program_;  // of the client; empty: not known
    std::string fault_;
    bool is_refused_ = false;
    std::shared_ptr<char> token_ = std::make_shared<char>();
};

}  // namespace network::gateway
