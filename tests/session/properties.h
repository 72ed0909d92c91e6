// SPDX-License-Identifier: MIT
// Properties of any text that a jail shows on its user's terminal. Returns the claim that these bytes break,
// or null.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "session/asks/message.h"
#include "session/helpers/notices.h"

namespace session {

inline const char* broken_for_notice(std::string_view bytes) {
    std::string text = notice_text(bytes);
    if (base::printable(text) != text) return "nothing but plain text is left of a notice";
    if (text.size() > 4 * 200 || text.starts_with(' ') || text.ends_with(' ')) return "a notice is short";
    if (notice_text(text) != text) return "what is plain stays as it is";
    auto controls = [](std::string_view sequence) {
        return std::ranges::count_if(sequence, [](char letter) {
            return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f;
        });
    };
    for (std::string_view kind : {"xterm-256color", "tmux", "dumb", "screen"}) {
        for (int options = 0; options < 16; ++options) {
            Screen screen{.kind = std::string(kind),
                          .is_in_tmux = (options & 1) != 0,
                          .is_in_screen = (options & 2) != 0,
                          .is_iterm = (options & 4) != 0,
                          .takes_unicode = (options & 8) != 0};
            std::string shown = notice_bytes(bytes, screen);
            if (!shown.ends_with('\a')) return "a notice rings";
            if (controls(shown) != controls(notice_bytes(text.empty() ? "" : "x", screen)))
                return "the text of a notice adds nothing that steers a terminal";
            bool has_bytes = std::ranges::any_of(
                shown, [](char letter) { return static_cast<unsigned char>(letter) >= 0x80; });
            if (has_bytes && !screen.takes_unicode) return "a terminal that takes no Unicode gets none";
        }
    }
    return nullptr;
}

inline const char* broken_for_ask(std::string_view bytes) {
    std::optional<Ask> ask = decode_ask(bytes);
    if (!ask) return nullptr;
    if (base::printable(ask->name) != ask->name) return "a name is shown as it is";
    if (ask->name.empty() || ask->name.size() > kLongestAskedName) return "a name has a size";
    if (base::printable(ask->because) != ask->because) return "a reason is plain text";
    return decode_ask(encode(*ask)) == ask ? nullptr : "what was read can be sent again";
}

}  // namespace session
