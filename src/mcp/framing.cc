// SPDX-License-Identifier: MIT
#include "mcp/framing.h"

#include <algorithm>

namespace mcp {

void Framing::add(std::string_view bytes, const std::function<void(Line)>& take) {
    for (size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
        end_line(bytes.substr(0, end), take);
        bytes.remove_prefix(end + 1);
    }
    if (is_dropping_) return;
    if (pending_.size() + bytes.size() <= longest_) {
        pending_ += bytes;
        return;
    }
    is_dropping_ = true;
    pending_ = {};
}

void Framing::end_line(std::string_view last, const std::function<void(Line)>& take) {
    const bool is_too_long = is_dropping_ || pending_.size() + last.size() > longest_;
    std::string whole = std::move(pending_);
    pending_ = {};
    is_dropping_ = false;
    if (is_too_long) return take({.text = {}, .is_too_long = true});
    if (!whole.empty()) last = whole += last;
    if (last.ends_with('\r')) last.remove_suffix(1);
    if (!last.empty()) take({.text = last});
}

size_t depth_of(std::string_view text) {
    size_t depth = 0, deepest = 0;
    bool is_in_string = false;
    for (size_t at = 0; at < text.size(); ++at) {
        const char letter = text[at];
        if (is_in_string) {
            if (letter == '\\') {
                ++at;
            } else if (letter == '"') {
                is_in_string = false;
            }
        } else if (letter == '"') {
            is_in_string = true;
        } else if (letter == '[' || letter == '{') {
            deepest = std::max(deepest, ++depth);
        } else if ((letter == ']' || letter == '}') && depth > 0) {
            --depth;
        }
    }
    return deepest;
}

}  // namespace mcp
