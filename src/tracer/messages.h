// SPDX-License-Identifier: MIT
// The messages between the tracer and the supervisor: notes over a socket that preserves message boundaries
// (base/process/pass_descriptors.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracer {

// To the tracer.
inline constexpr std::string_view kOver = "over";        // the command has ended: record what still runs
inline constexpr std::string_view kEnd = "end";          // the jail is dead; the answer is a summary
inline constexpr std::string_view kJournal = "journal";  // with the next part of the record
// From the tracer.
inline constexpr std::string_view kAskForJournal = "journal?";  // this part of the record is full

// What it has seen, as its last message.
struct Summary {
    uint64_t files = 0;         // different files that were closed to the command
    uint64_t system_calls = 0;  // refused, each time
    uint64_t commands = 0;      // programs that were started
    uint64_t lines = 0;         // of the record, and the hash of the last one where there is a chain
    std::string hash;

    bool operator==(const Summary&) const = default;
};
std::string encode(const Summary& summary);
std::optional<Summary> decode_summary(std::string_view note);

// Instead of a summary, at any time: the tracer has failed, and why.
std::string encode_failure(std::string_view why);
std::optional<std::string> decode_failure(std::string_view note);

}  // namespace tracer
