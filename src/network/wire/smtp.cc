// SPDX-License-Identifier: MIT
#include "network/wire/smtp.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "network/wire/http/authority.h"

namespace network::wire {
namespace {

constexpr std::string_view kClosing = "221 closing\r\n";
constexpr std::string_view kQuit = "QUIT";
// "554-" and the line end use six of the 512 bytes. Mail programs display short lines better.
constexpr size_t kTextPerLine = 400;

std::string ascii_text(std::string_view text) {
    std::string ascii(text.substr(0, kMaximumSmtpText));
    std::ranges::replace_if(
        ascii, [](char letter) { return letter == '\n' || letter == '\r' || letter == '\t'; }, ' ');
    std::ranges::replace_if(
        ascii, [](char letter) { return letter < ' ' || letter > '~'; }, '?');
    return ascii;
}

std::string reply_lines(std::string_view text) {
    std::string reply;
    for (;;) {
        size_t size = std::min(text.size(), kTextPerLine);
        bool is_last = size == text.size();
        size_t blank = is_last ? std::string_view::npos : text.substr(0, size).rfind(' ');
        if (blank != std::string_view::npos && blank > 0) size = blank;
        reply += is_last ? "554 " : "554-";
        reply += text.substr(0, size);
        reply += "\r\n";
        if (is_last) return reply;
        text.remove_prefix(text[size] == ' ' ? size + 1 : size);
    }
}

}  // namespace

SmtpRefusal::SmtpRefusal(std::string_view policy_text) : greeting_(reply_lines(ascii_text(policy_text))) {}

void SmtpRefusal::answer(std::string& reply) {
    bool is_quit = base::equals_ignoring_case(base::trim(line_), kQuit);
    reply += is_quit ? kClosing : std::string_view(greeting_);
    if (is_quit || ++commands_ == kMaximumSmtpCommands) state_ = State::close;
    line_.clear();
    line_size_ = 0;
}

SmtpRefusal::State SmtpRefusal::take(std::string_view received, std::string& reply) {
    for (char byte : received) {
        if (state_ == State::close) break;
        if (byte == '\n') {
            answer(reply);
        } else if (++line_size_ > kMaximumSmtpLine) {
            state_ = State::close;
        } else if (line_.size() < kQuit.size() + 2) {
            line_ += byte;
        }
    }
    return state_;
}

}  // namespace network::wire
