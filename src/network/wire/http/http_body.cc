// SPDX-License-Identifier: MIT
#include "network/wire/http/http_body.h"

#include <algorithm>

namespace network::wire {
namespace {

int hexadecimal(char letter) {
    if (letter >= '0' && letter <= '9') return letter - '0';
    if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
    if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
    return -1;
}

bool is_field_byte(char letter) {
    auto byte = static_cast<unsigned char>(letter);
    return (byte >= ' ' && byte != 0x7f) || letter == '\t';
}

}  // namespace

HttpBody::HttpBody(const HttpRequest& request) {
    switch (request.body) {
        case HttpRequest::Body::none:
            break;
        case HttpRequest::Body::sized:
            left_ = request.length;
            if (left_ > 0) step_ = Step::data;
            break;
        case HttpRequest::Body::chunked:
            is_chunked_ = true;
            step_ = Step::size_first;
            break;
    }
}

HttpBody::State HttpBody::state() const {
    if (step_ == Step::complete) return State::complete;
    return step_ == Step::malformed ? State::malformed : State::open;
}

size_t HttpBody::take(std::string_view bytes) {
    size_t taken = 0;
    while (taken < bytes.size() && state() == State::open) {
        if (step_ == Step::data) {
            uint64_t data = std::min<uint64_t>(left_, bytes.size() - taken);
            left_ -= data;
            taken += data;
            if (left_ == 0) step_ = is_chunked_ ? Step::data_return : Step::complete;
            continue;
        }
        step_ = next(bytes[taken]);
        if (step_ != Step::malformed) ++taken;
    }
    return taken;
}

HttpBody::Step HttpBody::next(char byte) {
    switch (step_) {
        case Step::size_first:
        case Step::size_digits:
            return next_in_size(byte);
        case Step::size_line_feed:
            if (byte != '\n') return Step::malformed;
            return left_ == 0 ? Step::trailer_first : Step::data;
        case Step::data_return:
            return byte == '\r' ? Step::data_line_feed : Step::malformed;
        case Step::data_line_feed:
            return byte == '\n' ? Step::size_first : Step::malformed;
        case Step::trailer_first:
        case Step::trailer:
            return next_in_trailer(byte);
        case Step::trailer_line_feed:
            return byte == '\n' ? Step::trailer_first : Step::malformed;
        case Step::last_line_feed:
            return byte == '\n' ? Step::complete : Step::malformed;
        case Step::data:
        case Step::complete:
        case Step::malformed:
            break;
    }
    return Step::malformed;
}

HttpBody::Step HttpBody::next_in_size(char byte) {
    if (step_ == Step::size_digits && byte == '\r') return Step::size_line_feed;
    int digit = hexadecimal(byte);
    if (digit < 0) return Step::malformed;
    if (step_ == Step::size_first) left_ = digits_ = 0;
    left_ = left_ << 4 | static_cast<uint64_t>(digit);
    return ++digits_ > kMaximumSizeDigits || left_ > kMaximumChunk ? Step::malformed : Step::size_digits;
}

HttpBody::Step HttpBody::next_in_trailer(char byte) {
    bool is_line_start = step_ == Step::trailer_first;
    if (byte == '\r') return is_line_start ? Step::last_line_feed : Step::trailer_line_feed;
    bool is_folded = is_line_start && (byte == ' ' || byte == '\t');
    if (is_folded || !is_field_byte(byte) || ++trailers_ > kMaximumTrailers) return Step::malformed;
    return Step::trailer;
}

}  // namespace network::wire
