// SPDX-License-Identifier: MIT
// Whole HTTP/1 responses (RFC 9110, 9112): the head, and where the body ends. As strict as the reader of
// requests (http_head.h), because the gateway writes the head anew: a response that it reads differently from
// its client would split into two there.
//
// Refused: two Content-Length, Content-Length with Transfer-Encoding, and a coding other than chunked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "network/wire/http/http_exchange.h"
#include "network/wire/http/http_head.h"

namespace network::wire {

struct HttpResponse {
    int status = 0;  // 100 to 599
    int minor_version = 1;
    std::string reason;  // the phrase after the status
    std::vector<HttpField> fields;
    HttpBody::Framing framing = HttpBody::Framing::none;
    uint64_t length = 0;  // of a sized body
    bool keeps_alive = true;
    size_t head_size = 0;

    // 1xx except 101: another head follows.
    bool is_interim() const { return status < 200 && status != 101; }
    bool is_upgrade() const { return status == 101; }
};

class HttpResponseHead {
  public:
    enum class State { need_more, complete, refused };

    // `answers_head`: the request was HEAD, so the response has no body, whatever its fields are.
    explicit HttpResponseHead(bool answers_head) : answers_head_(answers_head) {}

    // `received` is everything so far: the bytes of the last call, and more.
    State look(std::string_view received);

    const HttpResponse& response() const { return response_; }  // after complete
    std::string_view fault() const { return fault_; }           // after refused

  private:
    bool answers_head_;
    State state_ = State::need_more;
    HttpHeadScanner scanner_;
    HttpResponse response_;
    std::string_view fault_;
};

// The head has whole lines and no stray controls. Returns the fault, or an empty text.
std::string_view parse_http_response(std::string_view head, bool answers_head, HttpResponse& response);

}  // namespace network::wire
