// SPDX-License-Identifier: MIT
// What the tracer and the supervisor say to each other: notes over a socket that keeps messages apart
// (base/pass_descriptors.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracer {

// To the tracer.
inline constexpr std::string_view kOver = "over";        // the command has ended: what runs yet, runs still
inline constexpr std::string_view kEnd = "end";          // the jail is dead; the answer is a summary
inline constexpr std::string_view kJournal = "journal";  // with the next part of the record
// From it.
inline constexpr std::string_view kAskForJournal = "journal?";  // this part of the record is full

// What it has seen, as its last word.
struct Summary {
    uint64_t files = 0;         // different ones that were closed to the command
    uint64_t system_calls = 0;  // refused, each time
    uint64_t commands = 0;      // programs that were started
    uint64_t lines = 0;         // of the record, and the hash of the last one where there is a chain
    std::string hash;

    bool operator==(const Summary&) const = default;
};
std::string encode(const Summary& summary);
std::optional<Summary> decode_summary(std::string_view note);

// Instead of a summary, at any time: it can't go on, and why.
std::string encode_failure(std::string_view why);
std::optional<std::string> decode_failure(std::string_view note);

}  // namespace tracer
