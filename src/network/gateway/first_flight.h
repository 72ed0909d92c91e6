// SPDX-License-Identifier: MIT
// What a client says first, held until it is known to agree with what the connection was opened for. Pure.
//
// TLS: the server name must agree; then everything goes on, since nothing more can be read. Only where the
// server asks for a second ClientHello (HelloRetryRequest), that one is judged too: it could name another
// host. HTTP/1: handed to HttpStream, which judges every request. PostgreSQL: the ClientHello behind its
// request for TLS is judged. HTTP/2 in clear, hellos of SSL 2 and PROXY headers are refused: a request behind
// them could not be judged. git's own protocol: the host of the request must agree. ssh goes on: it names no
// host. Other protocols go on where judge_unknown_protocol lets them. What a lenient server would take for
// TLS or HTTP counts as that, and is refused by the strict reader.
#pragma once

#include <optional>
#include <string_view>

#include "network/gateway/expectation.h"
#include "network/wire/client_hello.h"
#include "network/wire/protocol_guess.h"
#include "network/wire/server_hello.h"

namespace network::gateway {

class FirstFlight {
  public:
    enum class State {
        need_more,
        wait,  // the first `judged` bytes go on; those behind are looked at when the server has answered
        pass,
        http,
        refused,
    };

    explicit FirstFlight(const Expectation& expected);

    // `received` is everything that came so far: what was shown before, and more.
    State look(std::string_view received, const Expectation& expected);
    // After `wait`, what the server says from then on. need_more: show more of it. wait: `look` is to be
    // called again, with what the client sent behind the judged bytes.
    State look_at_reply(std::string_view bytes, const Expectation& expected);
    // Nothing follows what was looked at.
    State look_at_end(std::string_view received, const Expectation& expected);
    // While undecided: the next `received` begins behind what was looked at.
    void drop_looked() { looked_ = 0; }

    wire::Protocol protocol() const { return protocol_; }
    // An unknown protocol may be spoken here; so the beginning of one may go on before it is known.
    bool takes_unknown() const { return takes_unknown_; }
    size_t judged() const { return judged_; }                  // after wait
    const Objection& objection() const { return objection_; }  // after refused

  private:
    enum class Step {
        opening,          // nothing is known
        first_hello,      // TLS
        after_hello,      // the server says whether it wants another
        second_hello,     // and does
        postgres_answer,  // to a request for TLS
        git_answer,       // to a request
    };

    State decide(std::string_view received, const Expectation& expected);
    State look_at_hello(std::string_view received, const Expectation& expected);
    State look_at_git_request(std::string_view received, const Expectation& expected);
    State take_git_answer(std::string_view bytes);
    State take_postgres_answer(char answer, const Expectation& expected);
    State refuse(Objection objection);

    bool takes_unknown_;
    Step step_ = Step::opening;
    wire::Protocol protocol_ = wire::Protocol::undecided;
    wire::ProtocolGuess guess_;
    size_t looked_ = 0;
    size_t judged_ = 0;
    size_t skipped_ = 0;  // records before a second hello
    int postgres_requests_ = 0;
    Hello hello_is_ = Hello::first;
    wire::ClientHelloReader hello_;
    wire::ServerHelloReader answer_;
    std::string git_answer_;
    Objection objection_;
};

}  // namespace network::gateway
