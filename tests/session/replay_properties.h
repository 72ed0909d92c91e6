// SPDX-License-Identifier: MIT
// Properties of a replay of any output. Returns the claim that these bytes break, or null.
#pragma once

#include <string>
#include <string_view>

#include "session/detached/replay.h"

namespace session {

inline const char* broken_for_replay(std::string_view bytes) {
    const std::string text = without_questions(bytes);
    if (text.size() > bytes.size()) return "a replay adds nothing to short output";
    if (text.find_first_of(std::string_view("\x05", 1)) != std::string::npos) return "no enquiry is replayed";
    if (without_questions(text) != text) return "what is harmless stays as it is";
    for (std::string_view question : {"\x1b[c", "\x1b[6n", "\x1bP", "\x1b_", "\x1b]52;", "\x1bZ"}) {
        if (text.find(question) != std::string::npos) return "no question is replayed";
    }
    Replay replay;
    for (size_t at = 0; at < bytes.size(); at += 7) replay.add(bytes.substr(at, 7));
    if (replay.text() != text) return "the pieces of the output do not matter";
    return nullptr;
}

}  // namespace session
