// SPDX-License-Identifier: MIT
#include "slurm/channel/frame.h"

#include <algorithm>

namespace slurm::channel {
namespace {

void append_number(std::string& bytes, uint32_t value, int width = 4) {
    for (int shift = 8 * (width - 1); shift >= 0; shift -= 8)
        bytes += static_cast<char>(value >> shift & 0xff);
}

uint32_t number_in(std::string_view bytes) {
    uint32_t value = 0;
    for (char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
}

bool is_known(uint8_t type) {
    return (type >= static_cast<uint8_t>(Type::hello) && type <= static_cast<uint8_t>(Type::ended)) ||
           (type >= static_cast<uint8_t>(Type::output) && type <= static_cast<uint8_t>(Type::exit));
}

void append_frame(std::string& bytes, Type type, std::string_view payload) {
    payload = payload.substr(0, kMaximumPayload);
    bytes += static_cast<char>(type);
    append_number(bytes, static_cast<uint32_t>(payload.size()));
    bytes += payload;
}

}  // namespace

std::string frame(Type type, std::string_view payload) {
    std::string bytes;
    append_frame(bytes, type, payload);
    return bytes;
}

std::string stream(Type type, std::string_view rest) {
    std::string bytes;
    for (; !rest.empty(); rest.remove_prefix(std::min(rest.size(), kMaximumPayload)))
        append_frame(bytes, type, rest);
    return bytes;
}

std::string word(Type type, std::string_view text) {
    size_t beginning = text.empty() ? 0 : (text.size() - 1) / kMaximumPayload * kMaximumPayload;
    return stream(Type::piece, text.substr(0, beginning)) + frame(type, text.substr(beginning));
}

std::string hello(std::string_view command) {
    std::string payload;
    append_number(payload, kVersion);
    payload += command;
    return frame(Type::hello, payload);
}

std::string number(Type type, uint32_t value) {
    std::string payload;
    append_number(payload, value);
    return frame(type, payload);
}

std::string window(Type type, Window size) {
    std::string payload;
    append_number(payload, size.rows, 2);
    append_number(payload, size.columns, 2);
    return frame(type, payload);
}

std::string exit(Exit exit) {
    std::string payload(1, exit.is_signal ? '\1' : '\0');
    append_number(payload, static_cast<uint32_t>(exit.number));
    return frame(Type::exit, payload);
}

std::string denied(const Denied& denial) {
    // Each part is short enough that the others fit too.
    constexpr size_t kLongest = kMaximumPayload / 4;
    std::string payload = denial.code.substr(0, kLongest);
    payload += '\0';
    payload += denial.what.substr(0, kLongest);
    payload += '\0';
    payload += denial.advice.substr(0, kLongest);
    return frame(Type::denied, payload);
}

std::optional<uint32_t> parse_number(std::string_view payload) {
    if (payload.size() != 4) return std::nullopt;
    return number_in(payload);
}

std::optional<Window> parse_window(std::string_view payload) {
    if (payload.size() != 4) return std::nullopt;
    return Window{static_cast<uint16_t>(number_in(payload.substr(0, 2))),
                  static_cast<uint16_t>(number_in(payload.substr(2)))};
}

std::optional<Exit> parse_exit(std::string_view payload) {
    if (payload.size() != 5 || static_cast<unsigned char>(payload[0]) > 1) return std::nullopt;
    uint32_t value = number_in(payload.substr(1));
    if (value > 0xff) return std::nullopt;
    return Exit{static_cast<int>(value), payload[0] == '\1'};
}

std::optional<Denied> parse_denied(std::string_view payload) {
    size_t first = payload.find('\0');
    if (first == std::string_view::npos) return std::nullopt;
    size_t second = payload.find('\0', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    return Denied{std::string(payload.substr(0, first)),
                  std::string(payload.substr(first + 1, second - first - 1)),
                  std::string(payload.substr(second + 1))};
}

bool Decoder::feed(std::string_view bytes, std::vector<Frame>& frames) {
    if (is_broken_) return false;
    // pending_ contains at most the current frame, however many bytes are fed at once.
    while (!bytes.empty()) {
        size_t wanted = kHeaderSize;
        if (pending_.size() >= kHeaderSize) wanted += number_in(std::string_view(pending_).substr(1, 4));
        size_t taken = std::min(wanted - pending_.size(), bytes.size());
        pending_ += bytes.substr(0, taken);
        bytes.remove_prefix(taken);
        if (pending_.size() < kHeaderSize) break;
        size_t length = number_in(std::string_view(pending_).substr(1, 4));
        if (!is_known(static_cast<uint8_t>(pending_[0])) || length > kMaximumPayload) {
            is_broken_ = true;
            return false;
        }
        if (pending_.size() < kHeaderSize + length) continue;
        frames.push_back({static_cast<Type>(pending_[0]), pending_.substr(kHeaderSize)});
        pending_.clear();
    }
    return true;
}

}  // namespace slurm::channel
