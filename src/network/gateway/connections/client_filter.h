// SPDX-License-Identifier: MIT
// Judges the bytes from the client to the server until nothing is left to judge. Pure.
//
// Where unknown protocols are allowed, the beginning of a first line passes before the protocol is known. In
// some protocols a word without a line end is a complete message. In the protocols that are judged, a server
// does nothing before the line ends. The verdict still covers the whole line, however long it grows.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "network/exchange/binding.h"
#include "network/gateway/connections/first_bytes.h"
#include "network/wire/http/http_exchange.h"
#include "network/wire/http/http_head.h"

namespace network::gateway {

// The requests of one HTTP/1 connection. Each is judged before a byte of it is forwarded. Pure.
//
// A server reads requests one after the other, so the end of a request matters as much as its host. Bodies
// are counted, and anything that the strict reader does not understand ends the connection. Requests in
// origin form are forwarded unchanged. Absolute form, and upgrades other than to a websocket, are rewritten.
// After a websocket's request nothing is forwarded before the server has accepted it, and everything
// afterwards. A websocket needs a connection of its own: only then is the first reply certainly its answer.

class HttpStream {
  public:
    enum class State { open, waiting_for_reply, raw, refused };
    enum class Requests { many, one };  // one: it is the last, and its header tells the server so

    explicit HttpStream(Requests requests) : takes_many_(requests == Requests::many) {}

    // Appends to `onward` the bytes that may be forwarded.
    State take(std::string_view bytes, const Expectation& expected, std::string& onward);
    // The server's bytes, while waiting for a reply. The client receives them in any case.
    State take_reply(std::string_view bytes, const Expectation& expected, std::string& onward);

    State state() const { return state_; }
    bool is_within_head() const { return !head_.empty(); }
    bool answers_head() const { return answers_head_; }  // the refused request was a HEAD request
    unsigned requests() const { return requests_; }      // forwarded so far
    const Objection& objection() const { return objection_; }

  private:
    // Returns the rest of the bytes.
    std::string_view take_body(std::string_view bytes, std::string& onward);
    std::string_view take_head(std::string_view bytes, const Expectation& expected, std::string& onward);
    void judge(const wire::HttpRequest& request, const Expectation& expected);
    static const exchange::Binding* find_placeholder(const wire::HttpRequest& request, const Broker& broker);
    void send_on(const wire::HttpRequest& request, std::string& onward);
    void refuse(Objection objection);
    void refuse(int status, std::string_view reason);

    State state_ = State::open;
    bool takes_many_;
    bool is_last_ = false;
    bool answers_head_ = false;
    unsigned requests_ = 0;
    std::string head_;
    wire::HttpHeadReader reader_;
    std::optional<wire::HttpBody> body_;
    std::string held_;  // bytes after a websocket's request
    std::string reply_;
    wire::HttpResponseReader reply_reader_;
    Objection objection_;
};

class Guard {
  public:
    enum class State {
        judging,
        waiting_for_reply,  // the server's bytes must be passed in; none are needed from the client
        passed,             // everything that follows passes
        refused,
    };

    Guard(Expectation expected, HttpStream::Requests requests)
        : expected_(std::move(expected)), requests_(requests), first_flight_(expected_) {}

    // Appends to `onward` the bytes that may pass.
    State take(std::string_view bytes, std::string& onward);
    State take_reply(std::string_view bytes, std::string& onward);
    // The client has closed its side: bytes that could still become several protocols are judged as they are.
    State take_end(std::string& onward);

    State state() const { return state_; }
    // Whether to read from the client. In a TLS handshake this is true before the server has answered: the
    // client's end of file must be seen once everything before it has passed.
    bool wants_client() const;
    // The guard holds bytes and needs more. The number changes with each verdict, so an equal number means
    // the same wait.
    bool is_holding() const;
    unsigned verdicts() const { return http_ ? http_->requests() : 0; }

    // The connection's protocol as far as known: "tls", "http", "ssh", "tcp".
    std::string_view protocol() const;

    const Objection& objection() const;
    // The refusal in the client's protocol. Empty if the protocol has no message for it.
    std::string words(std::string_view text) const;

  private:
    State adopt(HttpStream::State state);
    State pass_on_http(std::string_view bytes, std::string& onward);
    State look(std::string& onward);
    State refuse(int status, std::string_view reason);
    State send_judged(std::string& onward);
    State take_answer(std::string_view bytes, std::string& onward);
    void release_beginning(std::string& onward);

    Expectation expected_;
    HttpStream::Requests requests_;
    State state_ = State::judging;
    FirstFlight first_flight_;
    std::string held_;
    std::string released_;  // the beginning of held_, or of the first request, that has passed already
    bool is_long_ = false;  // more has passed than a request's head may have; it is not kept
    std::unique_ptr<HttpStream> http_;
    std::optional<Objection> objection_;
};

}  // namespace network::gateway
