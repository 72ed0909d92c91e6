// SPDX-License-Identifier: MIT
// Whether a server's answer to a ClientHello asks for a second one (HelloRetryRequest, RFC 8446 4.1.3): that
// one could name another host. Nothing else of the answer is read.
#pragma once

#include <string>
#include <string_view>

namespace network::wire {

class ServerHelloReader {
  public:
    enum class State {
        need_more,
        retry,    // a second ClientHello is asked for
        other,    // the handshake goes on or ends
        refused,  // the answer stays unreadable
    };

    // The bytes that follow those of the calls before.
    State take(std::string_view bytes);

  private:
    State read(std::string_view records);

    std::string received_;
};

}  // namespace network::wire
