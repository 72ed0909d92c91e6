// SPDX-License-Identifier: MIT
// Whether a server's answer to a ClientHello requests a second one (HelloRetryRequest, RFC 8446 4.1.3). The
// second one could name another host. Nothing else of the answer is parsed.
#pragma once

#include <string>
#include <string_view>

namespace network::wire {

class ServerHelloReader {
  public:
    enum class State {
        need_more,
        retry,    // the server requests a second ClientHello
        other,    // the handshake continues or ends
        refused,  // the answer cannot be parsed
    };

    // The bytes after those of the earlier calls.
    State take(std::string_view bytes);

  private:
    State read(std::string_view records);

    std::string received_;
};

}  // namespace network::wire
