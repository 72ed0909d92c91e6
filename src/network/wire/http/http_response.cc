// SPDX-License-Identifier: MIT
#include "network/wire/http/http_response.h"

namespace network::wire {
namespace {

// "HTTP/1.x NNN", then a blank and a phrase or the end of the line. 0 for other text.
int parse_status(std::string_view line) {
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

}  // namespace

HttpResponseReader::State HttpResponseReader::look(std::string_view received) {
    if (state_ != State::need_more) return state_;
    if (const HttpFault* fault = scanner_.look(received, head_size_)) {
        fault_ = fault->reason;
        return state_ = State::refused;
    }
    if (head_size_ == 0) return state_;
    status_ = parse_status(received.substr(0, received.find("\r\n")));
    if (status_ != 0) return state_ = State::complete;
    fault_ = "the response does not start with an HTTP/1 status";
    return state_ = State::refused;
}

}  // namespace network::wire
