// SPDX-License-Identifier: MIT
#include "network/wire/http/http_exchange.h"

#include <algorithm>
#include <iterator>

#include "base/encoding/json.h"

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

void append_chunk(std::string& out, std::string_view data) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    if (data.empty()) return;  // an empty chunk would end the body
    std::string size;
    for (size_t rest = data.size(); rest > 0; rest >>= 4) size.insert(size.begin(), kDigits[rest & 15]);
    out.append(size).append("\r\n").append(data).append("\r\n");
}

void append_last_chunk(std::string& out, std::string_view trailers) {
    out.append("0\r\n").append(trailers).append("\r\n");
}

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

HttpBody::HttpBody(Framing framing, uint64_t length) : skips_extensions_(true) {
    switch (framing) {
        case Framing::none:
            break;
        case Framing::sized:
            left_ = length;
            if (left_ > 0) step_ = Step::data;
            break;
        case Framing::chunked:
            is_chunked_ = true;
            step_ = Step::size_first;
            break;
        case Framing::until_close:
            ends_at_close_ = true;
            left_ = UINT64_MAX;
            step_ = Step::data;
            break;
    }
}

void HttpBody::end() {
    if (state() == State::open) step_ = ends_at_close_ ? Step::complete : Step::malformed;
}

HttpBody::State HttpBody::state() const {
    if (step_ == Step::complete) return State::complete;
    return step_ == Step::malformed ? State::malformed : State::open;
}

size_t HttpBody::take(std::string_view bytes, std::string* data) {
    size_t taken = 0;
    while (taken < bytes.size() && state() == State::open) {
        if (step_ == Step::data) {
            uint64_t size = std::min<uint64_t>(left_, bytes.size() - taken);
            if (data != nullptr) data->append(bytes.substr(taken, size));
            if (!ends_at_close_) left_ -= size;
            taken += size;
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
        case Step::extension:
            if (byte == '\r') return Step::size_line_feed;
            return is_field_byte(byte) && ++extension_ <= kMaximumExtension ? Step::extension
                                                                            : Step::malformed;
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
            if (byte == '\n') trailers_ += "\r\n";
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
    bool is_extension = byte == ';' || byte == ' ' || byte == '\t';
    if (step_ == Step::size_digits && skips_extensions_ && is_extension) {
        extension_ = 0;
        return Step::extension;
    }
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
    if (is_folded || !is_field_byte(byte) || trailers_.size() >= kMaximumTrailers) return Step::malformed;
    trailers_ += byte;
    return Step::trailer;
}

int parse_http_status(std::string_view line) {
    constexpr std::string_view kVersionPrefix = "HTTP/1.";
    constexpr size_t kCode = kVersionPrefix.size() + 2;
    if (line.size() < kCode + 3 || !line.starts_with(kVersionPrefix)) return 0;
    if ((line[kCode - 2] != '0' && line[kCode - 2] != '1') || line[kCode - 1] != ' ') return 0;
    if (line.size() > kCode + 3 && line[kCode + 3] != ' ') return 0;
    int status = 0;
    for (char digit : line.substr(kCode, 3)) {
        if (digit < '0' || digit > '9') return 0;
        status = status * 10 + (digit - '0');
    }
    return status >= 100 && status <= 599 ? status : 0;
}

HttpResponseReader::State HttpResponseReader::look(std::string_view received) {
    if (state_ != State::need_more) return state_;
    if (const HttpFault* fault = scanner_.look(received, head_size_)) {
        fault_ = fault->reason;
        return state_ = State::refused;
    }
    if (head_size_ == 0) return state_;
    status_ = parse_http_status(received.substr(0, received.find("\r\n")));
    if (status_ != 0) return state_ = State::complete;
    fault_ = "the response does not start with an HTTP/1 status";
    return state_ = State::refused;
}

namespace {

struct StatusRow {
    int status;
    std::string_view phrase;
    std::string_view error;
    bool may_retry;
};

constexpr StatusRow kStatuses[] = {
    {403, "Forbidden", "refused by the sandbox's network policy", false},
    {400, "Bad Request", "the sandbox's gateway refuses this request as malformed", false},
    {407, "Proxy Authentication Required", "the proxy of this site wants a password", false},
    {431, "Request Header Fields Too Large", "the request head is too large for the sandbox's gateway",
     false},
    {501, "Not Implemented", "the sandbox's gateway does not serve this request", false},
    {502, "Bad Gateway", "the sandbox's gateway could not reach the host", true},
    {503, "Service Unavailable", "the sandbox's gateway has too many connections", true},
    {504, "Gateway Timeout", "the host did not answer the sandbox's gateway in time", true},
    {505, "HTTP Version Not Supported", "the sandbox's gateway does not serve this request", false},
};

std::string response_of(int status, std::string_view phrase, const std::string& body, bool answers_head) {
    std::string response = "HTTP/1.1 " + std::to_string(status) + " ";
    response += phrase;
    response += "\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nConnection: close\r\n";
    response += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    if (!answers_head) response += body;
    return response;
}

}  // namespace

std::string http_answer(const std::string& body, bool answers_head) {
    return response_of(200, "OK", body, answers_head);
}

std::string http_refusal(const HttpRefusal& refusal) {
    const StatusRow* found = std::ranges::find(kStatuses, refusal.status, &StatusRow::status);
    const StatusRow& row = found == std::end(kStatuses) ? kStatuses[0] : *found;

    base::Json object = base::Json::object();
    object.set("error", row.error);
    if (!refusal.rule.empty()) object.set("rule", refusal.rule);
    object.set("reason", refusal.reason);
    object.set("do_not_retry", !row.may_retry);
    return response_of(row.status, row.phrase, object.dump(-1) + "\n", refusal.answers_head);
}

}  // namespace network::wire
