// SPDX-License-Identifier: MIT
#include "network/wire/refusals.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "network/wire/bytes.h"
#include "network/wire/http/http_head.h"

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

// An unencrypted packet is length, padding length, payload, padding. Its size is a multiple of eight bytes,
// with at least four bytes of padding.

namespace {

constexpr std::string_view kIdentification = "SSH-2.0-agent_sandbox\r\n";
constexpr uint8_t kDisconnectMessage = 1;
constexpr uint32_t kNotAllowedToConnect = 1;
constexpr size_t kBlock = 8;
constexpr size_t kMinimumPadding = 4;
constexpr size_t kLengthFields = 5;

void append_text(std::string& bytes, std::string_view text) {
    append_u32(bytes, static_cast<uint32_t>(text.size()));
    bytes += text;
}

std::string packet(std::string_view payload) {
    size_t padding = kBlock - (kLengthFields + payload.size()) % kBlock;
    if (padding < kMinimumPadding) padding += kBlock;
    std::string bytes;
    append_u32(bytes, static_cast<uint32_t>(1 + payload.size() + padding));
    append_u8(bytes, static_cast<unsigned>(padding));
    bytes += payload;
    bytes.append(padding, '\0');
    return bytes;
}

}  // namespace

std::string ssh_refusal(std::string_view policy_text) {
    std::string payload;
    append_u8(payload, kDisconnectMessage);
    append_u32(payload, kNotAllowedToConnect);
    append_text(payload, base::printable(policy_text.substr(0, kMaximumSshText)).substr(0, kMaximumSshText));
    append_text(payload, "");  // language
    return std::string(kIdentification) + packet(payload);
}

}  // namespace network::wire
