// SPDX-License-Identifier: MIT
// Properties of any message of the tracer, which reads the memory of jailed processes. Returns the claim that
// these bytes break, or null.
#pragma once

#include <string_view>

#include "tracer/record.h"

namespace tracer {

inline const char* broken_for_notes(std::string_view bytes) {
    std::optional<Summary> summary = decode_summary(bytes);
    if (summary && decode_summary(encode(*summary)) != summary)
        return "a summary is the same after a journey";
    std::optional<std::string> failure = decode_failure(bytes);
    if (failure && decode_failure(encode_failure(*failure)) != failure)
        return "a failure is the same after a journey";
    return summary && failure ? "a note is one of both" : nullptr;
}

}  // namespace tracer
