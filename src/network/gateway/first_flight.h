// SPDX-License-Identifier: MIT
// What a client says first, held until it is known to agree with what the connection was opened for. Pure.
//
// TLS: the server name must agree; then everything goes on, since nothing more can be read. HTTP/1: handed to
// HttpStream, which judges every request. HTTP/2 in clear is refused: its requests could not be told apart
// from here. Everything else goes on: it names no host. What a lenient server would take for HTTP counts as
// HTTP, and is refused by the strict reader.
#pragma once

#include <optional>
#include <string_view>

#include "network/gateway/expectation.h"
#include "network/wire/client_hello.h"
#include "network/wire/protocol_guess.h"

namespace network::gateway {

class FirstFlight {
  public:
    enum class State { need_more, pass, http, refused };

    // `received` is everything that came so far: what was shown before, and more.
    State look(std::string_view received, const Expectation& expected);

    wire::Protocol protocol() const { return protocol_; }
    const Objection& objection() const { return objection_; }  // after refused

  private:
    State look_at_hello(std::string_view received, const Expectation& expected);
    State refuse(Objection objection);

    wire::Protocol protocol_ = wire::Protocol::undecided;
    wire::ClientHelloReader hello_;
    Objection objection_;
};

// As wire::guess_protocol, and stricter: empty lines and blanks before a request, any token as its method,
// any white space behind it and any spelling of HTTP make it http1.
wire::Protocol guess_strictly(std::string_view first);

}  // namespace network::gateway
