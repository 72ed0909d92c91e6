// SPDX-License-Identifier: MIT
// Finds the end of a request's body, so that no byte after it reaches the server without a check.
#pragma once

#include <cstdint>
#include <string_view>

#include "network/wire/http/http_head.h"

namespace network::wire {

constexpr uint64_t kMaximumChunk = uint64_t{1} << 40;
constexpr size_t kMaximumSizeDigits = 16;
constexpr size_t kMaximumTrailers = 4096;

class HttpBody {
  public:
    enum class State { open, complete, malformed };

    explicit HttpBody(const HttpRequest& request);

    // Returns how many of these bytes belong to the body and may be forwarded. If fewer than all: the body is
    // complete and the rest is another request, or it is malformed and nothing more may be forwarded.
    size_t take(std::string_view bytes);

    State state() const;

  private:
    // The chunked coding, one step per byte outside the data. Chunk extensions are refused: common programs
    // do not send them, and servers disagree about them.
    enum class Step {
        size_first,
        size_digits,
        size_line_feed,
        data,
        data_return,
        data_line_feed,
        trailer_first,
        trailer,
        trailer_line_feed,
        last_line_feed,
        complete,
        malformed,
    };
    Step next(char byte);
    Step next_in_size(char byte);
    Step next_in_trailer(char byte);

    Step step_ = Step::complete;
    bool is_chunked_ = false;
    uint64_t left_ = 0;  // bytes of data; while a size is read, the size so far
    size_t digits_ = 0;
    size_t trailers_ = 0;
};

}  // namespace network::wire
