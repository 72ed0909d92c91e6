// SPDX-License-Identifier: MIT
#include "network/wire/server_hello.h"

#include <algorithm>

#include "network/wire/bytes.h"
#include "network/wire/client_hello.h"

namespace network::wire {
namespace {

constexpr uint8_t kServerHelloMessage = 2;
constexpr size_t kBeforeRandom = 6;  // bytes of the message: type, length, version
constexpr size_t kMostReceived = 1024;

// SHA-256 of "HelloRetryRequest", in place of a ServerHello's random bytes.
constexpr std::string_view kRetryRandom(
    "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
    "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c",
    32);

}  // namespace

ServerHelloReader::State ServerHelloReader::take(std::string_view bytes) {
    received_ += bytes.substr(0, kMostReceived - received_.size());
    State state = read(received_);
    bool is_full = state == State::need_more && received_.size() == kMostReceived;
    return is_full ? State::refused : state;
}

// A server may split its message into any records.
ServerHelloReader::State ServerHelloReader::read(std::string_view records) {
    std::string message;
    Cursor cursor(records);
    while (cursor.left() > 0) {
        if (cursor.u8() != kHandshakeRecord) return State::other;
        cursor.u16();
        size_t length = cursor.u16();
        if (cursor.has_failed()) return State::need_more;
        message += cursor.take(std::min(length, cursor.left()));
        if (!message.empty() && static_cast<uint8_t>(message[0]) != kServerHelloMessage) return State::other;
        if (message.size() < kBeforeRandom + kRetryRandom.size()) continue;
        bool is_retry = std::string_view(message).substr(kBeforeRandom, kRetryRandom.size()) == kRetryRandom;
        return is_retry ? State::retry : State::other;
    }
    return State::need_more;
}

}  // namespace network::wire
