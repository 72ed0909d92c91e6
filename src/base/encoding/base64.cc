// SPDX-License-Identifier: MIT
#include "base/encoding/base64.h"

#include <array>
#include <cstdint>

namespace base {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNone = 0xff;

constexpr std::array<uint8_t, 256> values() {
    std::array<uint8_t, 256> table{};
    table.fill(kNone);
    for (size_t i = 0; i < kLetters.size(); ++i)
        table[static_cast<uint8_t>(kLetters[i])] = static_cast<uint8_t>(i);
    return table;
}
constexpr std::array<uint8_t, 256> kValues = values();

}  // namespace

std::string to_base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (size_t at = 0; at < bytes.size(); at += 3) {
        size_t count = std::min<size_t>(3, bytes.size() - at);
        uint32_t group = 0;
        for (size_t i = 0; i < 3; ++i)
            group = group << 8 | (i < count ? static_cast<uint8_t>(bytes[at + i]) : 0u);
        for (size_t i = 0; i < 4; ++i) text += i <= count ? kLetters[group >> (18 - 6 * i) & 63] : '=';
    }
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    for (size_t at = 0; at < text.size(); at += 4) {
        bool is_last = at + 4 == text.size();
        size_t padding = !is_last ? 0 : text[at + 3] != '=' ? 0 : text[at + 2] != '=' ? 1 : 2;
        uint32_t group = 0;
        for (size_t i = 0; i < 4; ++i) {
            uint8_t value = i < 4 - padding ? kValues[static_cast<uint8_t>(text[at + i])] : 0;
            if (value == kNone) return std::nullopt;
            group = group << 6 | value;
        }
        // Unused bits must be zero, or two texts would decode to the same bytes.
        if (group & ((1u << 8 * padding) - 1)) return std::nullopt;
        for (size_t i = 0; i < 3 - padding; ++i) bytes += static_cast<char>(group >> (16 - 8 * i) & 255);
    }
    return bytes;
}

}  // namespace base
