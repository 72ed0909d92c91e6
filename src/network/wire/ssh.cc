// SPDX-License-Identifier: MIT
// An unencrypted packet is length, padding length, payload, padding. Its size is a multiple of eight bytes,
// with at least four bytes of padding.
#include "network/wire/ssh.h"

#include "base/text.h"
#include "network/wire/bytes.h"

namespace network::wire {
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
