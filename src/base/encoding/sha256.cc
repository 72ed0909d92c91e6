// SPDX-License-Identifier: MIT
// SHA-256 after FIPS 180-4. The trust store and the names of projects use it for a few hundred bytes at a
// time; plain code is fast enough and avoids a library.
#include "base/encoding/sha256.h"

#include <array>
#include <bit>
#include <cstdint>

namespace base {
namespace {

constexpr size_t kBlockSize = 64;

constexpr std::array<uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<uint32_t, 8>;

std::array<uint32_t, 64> expand(std::string_view block) {
    std::array<uint32_t, 64> words{};
    for (size_t i = 0; i < kBlockSize; ++i) {
        words[i / 4] = words[i / 4] << 8 | static_cast<unsigned char>(block[i]);
    }
    for (size_t i = 16; i < words.size(); ++i) {
        uint32_t early = words[i - 15], late = words[i - 2];
        uint32_t small0 = std::rotr(early, 7) ^ std::rotr(early, 18) ^ early >> 3;
        uint32_t small1 = std::rotr(late, 17) ^ std::rotr(late, 19) ^ late >> 10;
        words[i] = words[i - 16] + small0 + words[i - 7] + small1;
    }
    return words;
}

void absorb(State& state, std::string_view block) {
    std::array<uint32_t, 64> words = expand(block);
    auto [a, b, c, d, e, f, g, h] = state;
    for (size_t i = 0; i < words.size(); ++i) {
        uint32_t big1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        uint32_t first = h + big1 + ((e & f) ^ (~e & g)) + kRoundConstants[i] + words[i];
        uint32_t big0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        uint32_t second = big0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + first;
        d = c, c = b, b = a, a = first + second;
    }
    State added = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

// The end of the message: a one bit, zeros, and the length in bits, so that it fills whole blocks.
std::string padded_tail(std::string_view tail, uint64_t message_bytes) {
    std::string padded(tail);
    padded += '\x80';
    while (padded.size() % kBlockSize != kBlockSize - 8) padded += '\0';
    for (int shift = 56; shift >= 0; shift -= 8)
        padded += static_cast<char>(message_bytes * 8 >> shift & 0xff);
    return padded;
}

}  // namespace

std::string sha256(std::string_view content) {
    State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::string_view rest = content;
    for (; rest.size() >= kBlockSize; rest.remove_prefix(kBlockSize))
        absorb(state, rest.substr(0, kBlockSize));
    std::string tail = padded_tail(rest, content.size());
    for (size_t at = 0; at < tail.size(); at += kBlockSize)
        absorb(state, std::string_view(tail).substr(at, kBlockSize));

    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hexadecimal;
    for (uint32_t word : state) {
        for (int shift = 28; shift >= 0; shift -= 4) hexadecimal += kDigits[word >> shift & 0xf];
    }
    return hexadecimal;
}

}  // namespace base
