// SPDX-License-Identifier: MIT
// Parses the head of a response as far as the gateway needs it: whether a site's proxy opened the tunnel for
// CONNECT, or a server accepted a websocket.
#pragma once

#include <string_view>

#include "network/wire/http/http_head.h"

namespace network::wire {

class HttpResponseReader {
  public:
    enum class State { need_more, complete, refused };

    // `received` is everything so far: the bytes of the last call, and more.
    State look(std::string_view received);

    int status() const { return status_; }           // after complete: 100 to 599
    size_t head_size() const { return head_size_; }  // bytes after it belong to the tunnel or the body
    std::string_view fault() const { return fault_; }

  private:
    State state_ = State::need_more;
    HttpHeadScanner scanner_;
    int status_ = 0;
    size_t head_size_ = 0;
    std::string_view fault_;
};

}  // namespace network::wire
