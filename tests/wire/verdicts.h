// SPDX-License-Identifier: MIT
// Playbooks: each one gives the bytes to a reader, in pieces that a seed selects, and returns the reader's
// result as one line of text. The same bytes must give the same line for every seed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace network::wire {

enum : uint32_t { kWhole = 0, kBytewise = 1 };  // any other seed: pieces of random size

// Calls `show` with each piece of `input` in turn.
void in_pieces(std::string_view input, uint32_t seed,
               const std::function<void(std::string_view piece)>& show);

std::string hello_verdict(std::string_view input, uint32_t seed);
std::string head_verdict(std::string_view input, uint32_t seed);
std::string response_verdict(std::string_view input, uint32_t seed);
std::string socks5_verdict(std::string_view input, uint32_t seed);
std::string smtp_verdict(std::string_view input, uint32_t seed);
std::string frames_verdict(std::string_view input, uint32_t seed);
std::string chunked_verdict(std::string_view input, uint32_t seed);
std::string guess_verdict(std::string_view input, uint32_t seed);

using VerdictFunction = std::string (*)(std::string_view input, uint32_t seed);
// Two lines that differ, or nothing if the result is the same for all seeds.
std::string disagreement(VerdictFunction verdict, std::string_view input);
// The line that is the same for all seeds, or the disagreement.
std::string agreed(VerdictFunction verdict, std::string_view input);

// "05 01 00": blanks between bytes are optional.
std::string bytes(std::string_view hexadecimal);
std::string hexadecimal(std::string_view bytes);

}  // namespace network::wire
