// SPDX-License-Identifier: MIT
// Header blocks of HTTP/2 as heads of HTTP/1.1, and back (RFC 9113, section 8). The readers of
// network/exchange get HTTP/1.1 alone, so both versions are judged by the same code.
//
// Threat: request smuggling by translation. A field whose value has a line end, a second :path, a
// transfer-encoding that HTTP/2 ignores and HTTP/1.1 obeys, a Host beside another :authority. Each field is
// checked before a byte of a head is written, and the head that was written is read again: it must hold the
// same fields. Tests: tests/http2/heads_test.cc, and fuzz_http2_request_head.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "network/wire/http/http_head.h"
#include "network/wire/http/http_response.h"

namespace network::http2 {

using Fields = std::vector<wire::HttpField>;

// The fields of one block while they are decoded. As much as a head of HTTP/1.1 may have.
class HeaderBlock {
  public:
    void add(std::string_view name, std::string_view value);
    void clear();

    const Fields& fields() const { return fields_; }
    bool is_too_long() const { return is_too_long_; }

  private:
    Fields fields_;
    size_t size_ = 0;
    bool is_too_long_ = false;
};

// Writes a head, with "Transfer-Encoding: chunked" if there is a body of unknown length. Returns the fault,
// or an empty text.
std::string_view write_request_head(const Fields& fields, bool has_body, std::string& head);

struct AnswerForm {
    bool answers_head = false;  // the request was HEAD
    bool has_body = false;      // the stream goes on after the block
};
std::string_view write_answer_head(const Fields& fields, const AnswerForm& form, std::string& head);
// Lines with their line ends.
std::string_view write_trailers(const Fields& fields, std::string& lines);

// The other direction, of heads that the gateway wrote.
Fields fields_of(const wire::HttpRequest& request);
Fields fields_of(const wire::HttpResponse& response);
Fields fields_of_trailers(const std::string& lines);

}  // namespace network::http2
