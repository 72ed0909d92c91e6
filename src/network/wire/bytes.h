// SPDX-License-Identifier: MIT
// Numbers in network order. A cursor never reads past its end: missing bytes read as zero or empty and set a
// failure flag. A parser may check the flag once, after several fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace network::wire {

class Cursor {
  public:
    explicit Cursor(std::string_view bytes) : rest_(bytes) {}

    uint8_t u8() { return static_cast<uint8_t>(number(1)); }
    uint16_t u16() { return static_cast<uint16_t>(number(2)); }
    uint32_t u24() { return number(3); }
    uint32_t u32() { return number(4); }

    std::string_view take(size_t count) {
        if (count > rest_.size()) {
            has_failed_ = true;
            rest_ = {};
            return {};
        }
        std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return taken;
    }

    bool has_failed() const { return has_failed_; }
    // All fields were present and no bytes are left.
    bool is_spent() const { return !has_failed_ && rest_.empty(); }
    size_t left() const { return rest_.size(); }

  private:
    uint32_t number(size_t width) {
        uint32_t value = 0;
        for (char byte : take(width)) value = value << 8 | static_cast<unsigned char>(byte);
        return value;
    }

    std::string_view rest_;
    bool has_failed_ = false;
};

inline void append_u8(std::string& bytes, unsigned value) {
    bytes += static_cast<char>(value & 0xff);
}

inline void append_u16(std::string& bytes, unsigned value) {
    append_u8(bytes, value >> 8);
    append_u8(bytes, value);
}

inline void append_u32(std::string& bytes, uint32_t value) {
    append_u16(bytes, value >> 16);
    append_u16(bytes, value);
}

}  // namespace network::wire
