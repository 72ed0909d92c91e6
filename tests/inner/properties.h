// SPDX-License-Identifier: MIT
// Properties of the protocol between the supervisor and the stage, for any bytes. Each function returns the
// claim that these bytes break, or null.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "inner/launch_spec.h"
#include "inner/messages.h"

namespace inner {

inline const char* broken_for_launch_spec(std::string_view bytes) {
    base::Result<LaunchSpec> spec = decode(bytes);
    if (!spec) return spec.error().what.empty() ? "an error says what is wrong" : nullptr;
    std::string text = encode(*spec);
    base::Result<LaunchSpec> again = decode(text);
    if (!again) return "what was read can be written down and read";
    return encode(*again) == text ? nullptr : "what was written down says the same";
}

// The frames do not depend on how the bytes are cut, and a decoded frame is the same after another round
// trip.
template <typename Message>
const char* broken_for_stream(std::string_view bytes, bool (*take)(std::string&, Message&)) {
    std::string whole(bytes), pieces;
    size_t taken = 0;
    Message message;
    std::string frames, slow_frames;
    while (take(whole, message)) {
        std::string frame = encode(message);
        Message again;
        std::string copy = frame;
        if (!take(copy, again) || !copy.empty() || !(again == message))
            return "a frame is the same after a journey";
        frames += frame;
        if (++taken > bytes.size()) return "a frame takes bytes";
    }
    for (char byte : bytes) {
        pieces += byte;
        while (take(pieces, message)) slow_frames += encode(message);
    }
    if (frames != slow_frames || pieces != whole) return "how bytes are cut does not change the frames";
    return nullptr;
}

inline const char* broken_for_reports(std::string_view bytes) {
    return broken_for_stream<Report>(bytes, take_report);
}
inline const char* broken_for_requests(std::string_view bytes) {
    return broken_for_stream<SignalRequest>(bytes, take_signal_request);
}

inline const char* broken_for_added(std::string_view bytes) {
    std::optional<AddedRequest> request = decode_added(bytes);
    if (!request) return nullptr;
    if (request->command.empty()) return "an added command has a first word";
    size_t words = 0;
    for (const auto* list : {&request->command, &request->environment}) {
        for (const std::string& word : *list) words += word.size();
    }
    if (words > kLargestAddedWords) return "an added command is bounded";
    std::optional<AddedRequest> again = decode_added(encode(*request));
    return again == request ? nullptr : "a request is the same after a journey";
}

}  // namespace inner
