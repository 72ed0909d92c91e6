// SPDX-License-Identifier: MIT
// Frames of HTTP/2 as bytes, for what no library sends (RFC 9113 and 7541), and a client and a server that
// pass their bytes to each other.
#pragma once

#include <string>
#include <string_view>

#include "network/http2/client_session.h"
#include "network/http2/server_session.h"

namespace network::http2 {

inline const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

enum : uint8_t { kData, kHeaders, kPriority, kResetStream, kSettings, kPush, kPing, kGoAway, kWindow, kMore };
constexpr uint8_t kEnd = 1, kEndHeaders = 4;

inline std::string frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
    std::string text;
    for (int shift : {16, 8, 0}) text += static_cast<char>(payload.size() >> shift);
    text += static_cast<char>(type);
    text += static_cast<char>(flags);
    for (int shift : {24, 16, 8, 0}) text += static_cast<char>(stream >> shift);
    return text.append(payload);
}

// A literal field that enters no table, without Huffman's code.
inline std::string literal(std::string_view name, std::string_view value) {
    auto sized = [](std::string_view text) {
        std::string bytes;
        constexpr size_t kShort = 127;
        if (text.size() < kShort) {
            bytes += static_cast<char>(text.size());
        } else {
            bytes += static_cast<char>(kShort);
            size_t rest = text.size() - kShort;
            for (; rest > kShort; rest >>= 7) bytes += static_cast<char>((rest & kShort) | 0x80);
            bytes += static_cast<char>(rest);
        }
        return bytes.append(text);
    };
    return std::string(1, '\0') + sized(name) + sized(value);
}

inline std::string block_of(const Fields& fields) {
    std::string block;
    for (const wire::HttpField& field : fields) block += literal(field.name, field.value);
    return block;
}

inline const Fields kGet = {
    {":method", "GET"}, {":scheme", "https"}, {":path", "/user"}, {":authority", "api.example.org"}};

inline Fields with(Fields fields, std::string name, std::string value) {
    fields.push_back({std::move(name), std::move(value)});
    return fields;
}
inline Fields changed(Fields fields, std::string_view name, std::string value) {
    for (wire::HttpField& field : fields) {
        if (field.name == name) field.value = value;
    }
    return fields;
}

inline std::string opening() {
    return kPreface + frame(kSettings, 0, 0, "");
}
inline std::string request(uint32_t stream, const Fields& fields, uint8_t flags = kEnd | kEndHeaders) {
    return frame(kHeaders, flags, stream, block_of(fields));
}

// The types of the frames, as digits, and the error code of GOAWAY or RST_STREAM behind a letter.
inline std::string types_of(std::string_view bytes) {
    std::string text;
    constexpr size_t kHead = 9;
    while (bytes.size() >= kHead) {
        auto byte = [&](size_t at) { return static_cast<unsigned char>(bytes[at]); };
        const size_t size = static_cast<size_t>(byte(0)) << 16 | static_cast<size_t>(byte(1)) << 8 | byte(2);
        const uint8_t type = byte(3);
        if (type == kGoAway) text += "G" + std::to_string(byte(kHead + 7)) + " ";
        if (type == kResetStream) text += "R" + std::to_string(byte(kHead + 3)) + " ";
        if (type == kHeaders) text += "H ";
        if (type == kData) text += "D ";
        bytes.remove_prefix(std::min(kHead + size, bytes.size()));
    }
    return text;
}

inline std::string output_of(ServerSession& server) {
    std::string out;
    server.take_output(out, 1 << 20);
    return out;
}

// Passes bytes between both until neither has any. Returns what the client reads as HTTP/1.1.
inline std::string exchange_bytes(ClientSession& client, ServerSession& server) {
    std::string answer;
    while (true) {
        std::string up, down;
        client.take_output(up);
        server.receive(up);
        server.take_output(down, 1 << 20);
        client.receive(down, answer);
        if (up.empty() && down.empty()) return answer;
    }
}

}  // namespace network::http2
