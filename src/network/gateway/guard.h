// SPDX-License-Identifier: MIT
// Stands on the way from the client to the server until nothing is left to judge. Pure.
//
// Where unknown protocols may be spoken, the beginning of a first line goes on before it is known what it
// becomes: a word without an end is a whole message in some protocols, and in those that are judged a server
// does nothing before the line has ended. The verdict is still about all of it, however long it grows.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "network/gateway/expectation.h"
#include "network/gateway/first_flight.h"
#include "network/gateway/http_stream.h"

namespace network::gateway {

class Guard {
  public:
    enum class State {
        judging,
        waiting_for_reply,  // what the server says must be shown; nothing is wanted from the client
        passed,             // everything that follows goes on
        refused,
    };

    Guard(Expectation expected, HttpStream::Requests requests)
        : expected_(std::move(expected)), requests_(requests), first_flight_(expected_) {}

    // Appends to `onward` what may go on.
    State take(std::string_view bytes, std::string& onward);
    State take_reply(std::string_view bytes, std::string& onward);
    // The client ended: what could still have become anything is judged as what it is.
    State take_end(std::string& onward);

    State state() const { return state_; }
    // What the client sends can be taken. In a TLS handshake it is, although the server has not answered:
    // that the client has ended must be seen, once everything before went on.
    bool wants_client() const;
    // Bytes are held that more have to follow. The number changes with each verdict, so that the same one
    // seen twice is the same wait.
    bool is_holding() const;
    unsigned verdicts() const { return http_ ? http_->requests() : 0; }

    // The connection's protocol as far as known: "tls", "http", "ssh", "tcp".
    std::string_view protocol() const;

    const Objection& objection() const;
    // The refusal in the client's protocol; empty where it has no words for it.
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
    std::string released_;  // the beginning of what is held, or of the first request, that went on already
    bool is_long_ = false;  // more went on than a request's head can have; it is not kept
    std::unique_ptr<HttpStream> http_;
    std::optional<Objection> objection_;
};

}  // namespace network::gateway
