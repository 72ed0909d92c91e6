// SPDX-License-Identifier: MIT
// An HTTP exchange after the head of its request: the end of a body, the head of a response, and the
// gateway's own responses. http_response.h reads whole responses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "network/wire/http/http_head.h"

namespace network::wire {

// Finds the end of a body, so that no byte after it reaches the other side without a check.

constexpr uint64_t kMaximumChunk = uint64_t{1} << 40;
constexpr size_t kMaximumSizeDigits = 16;
constexpr size_t kMaximumTrailers = 4096;
constexpr size_t kMaximumExtension = 256;

class HttpBody {
  public:
    enum class State { open, complete, malformed };

    enum class Framing { none, sized, chunked, until_close };

    explicit HttpBody(const HttpRequest& request);
    // Of a response: chunk extensions are skipped, because the gateway writes chunks of its own.
    HttpBody(Framing framing, uint64_t length);

    // Returns how many of these bytes belong to the body and may be forwarded. If fewer than all: the body is
    // complete and the rest is another request, or it is malformed and nothing more may be forwarded.
    size_t take(std::string_view bytes) { return take(bytes, nullptr); }
    // Appends the data without the chunks around it.
    size_t take(std::string_view bytes, std::string& data) { return take(bytes, &data); }
    // The connection was closed: that completes a body without another end.
    void end();

    State state() const;
    // Lines with their line ends, after the last chunk.
    const std::string& trailers() const { return trailers_; }

  private:
    // The chunked coding, one step per byte outside the data. Chunk extensions of a request are refused:
    // common programs do not send them, and servers disagree about them.
    enum class Step {
        size_first,
        size_digits,
        extension,
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
    size_t take(std::string_view bytes, std::string* data);
    Step next(char byte);
    Step next_in_size(char byte);
    Step next_in_trailer(char byte);

    Step step_ = Step::complete;
    bool is_chunked_ = false;
    bool ends_at_close_ = false;
    bool skips_extensions_ = false;
    uint64_t left_ = 0;  // bytes of data; while a size is read, the size so far
    size_t digits_ = 0;
    size_t extension_ = 0;
    std::string trailers_;
};

// Chunks of the gateway's own, for both directions.
void append_chunk(std::string& out, std::string_view data);
void append_last_chunk(std::string& out, std::string_view trailers);

// Parses the head of a response as far as the gateway needs it: whether a site's proxy opened the tunnel for
// CONNECT, or a server accepted a websocket.

// Of "HTTP/1.x NNN", then a blank and a phrase or the end of the line. 0 for other text.
int parse_http_status(std::string_view line);

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

// The gateway's own HTTP responses: refusals that programs can parse and users can understand.

constexpr std::string_view kConnectEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";

struct HttpRefusal {
    int status = 403;       // one of the table in http_exchange.cc; any other is sent as 403
    std::string_view rule;  // may be empty
    std::string_view reason;
    bool answers_head = false;  // the request is HEAD: send the head alone
};

// A complete response with a JSON body {error, rule, reason, do_not_retry}, its exact length, and
// "Connection: close". The status decides do_not_retry.
std::string http_refusal(const HttpRefusal& refusal);

// A complete response "200 OK" with this JSON body.
std::string http_answer(const std::string& body, bool answers_head);

}  // namespace network::wire
