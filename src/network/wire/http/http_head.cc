// SPDX-License-Identifier: MIT
// The scan for the empty line checks every byte once. The lines are parsed when all are there
// (http_parse.cc).
#include "network/wire/http/http_head.h"

namespace network::wire {
namespace {

constexpr HttpFault kControl{400, "the head holds a control character"};
constexpr HttpFault kBareLineFeed{400, "a line of the head ends with LF alone"};
constexpr HttpFault kBareReturn{400, "the head holds CR without LF"};
constexpr HttpFault kFolded{400, "a line of the head starts with a blank"};
constexpr HttpFault kTooLong{431, "the head is longer than 16 KiB"};

bool is_control(char letter) {
    auto byte = static_cast<unsigned char>(letter);
    return (byte < 0x20 && letter != '\t' && letter != '\r' && letter != '\n') || byte == 0x7f;
}

}  // namespace

const HttpFault* HttpHeadScanner::check_byte(std::string_view received) const {
    char byte = received[looked_];
    bool follows_return = looked_ > 0 && received[looked_ - 1] == '\r';
    if (is_control(byte)) return &kControl;
    if (byte == '\n' && !follows_return) return &kBareLineFeed;
    if (byte != '\n' && follows_return) return &kBareReturn;
    if ((byte == ' ' || byte == '\t') && looked_ == line_start_) return &kFolded;
    return nullptr;
}

const HttpFault* HttpHeadScanner::look(std::string_view received, size_t& head_size) {
    for (; looked_ < received.size(); ++looked_) {
        if (looked_ == kMaximumHead) return &kTooLong;
        if (const HttpFault* fault = check_byte(received)) return fault;
        if (received[looked_] != '\n') continue;
        bool is_empty_line = looked_ == line_start_ + 1;
        line_start_ = looked_ + 1;
        if (!is_empty_line) continue;
        head_size = line_start_;
        return nullptr;
    }
    return nullptr;
}

HttpHeadReader::State HttpHeadReader::refuse(const HttpFault& fault) {
    state_ = State::refused;
    fault_ = fault;
    return state_;
}

HttpHeadReader::State HttpHeadReader::look(std::string_view received) {
    if (state_ != State::need_more) return state_;
    size_t head_size = 0;
    if (const HttpFault* fault = scanner_.look(received, head_size)) return refuse(*fault);
    if (head_size == 0) return State::need_more;
    if (const HttpFault* fault = parse_http_head(received.substr(0, head_size), request_)) {
        return refuse(*fault);
    }
    state_ = State::complete;
    return state_;
}

}  // namespace network::wire
