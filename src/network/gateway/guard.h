// SPDX-License-Identifier: MIT
// Stands on the way from the client to the server until nothing is left to judge. Pure.
//
// The beginning of a first line goes on although nobody can tell yet what it becomes: a word without an end
// is a whole message in some protocols, and in those that are judged a server does nothing before the line
// has ended. The verdict is still about all of it.
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
        : expected_(std::move(expected)), requests_(requests) {}

    // Appends to `onward` what may go on.
    State take(std::string_view bytes, std::string& onward);
    State take_reply(std::string_view bytes, std::string& onward);
    // The client ended: what could still have become anything goes on, since it becomes nothing now.
    State take_end(std::string& onward);

    State state() const { return state_; }
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
    void release_beginning(std::string& onward);

    Expectation expected_;
    HttpStream::Requests requests_;
    State state_ = State::judging;
    FirstFlight first_flight_;
    std::string held_;
    std::string released_;  // the beginning of what is held, or of the first request, that went on already
    std::unique_ptr<HttpStream> http_;
    std::optional<Objection> objection_;
};

}  // namespace network::gateway
