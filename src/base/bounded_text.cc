// SPDX-License-Identifier: MIT
#include "base/bounded_text.h"

#include <algorithm>

#include "base/text.h"

namespace base {
namespace {

constexpr size_t kLongestCharacter = 4;  // of UTF-8, in bytes

bool is_continuation(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0u) == 0x80u;
}

// Without the part of a character at the end. Other bytes that are not UTF-8 stay.
std::string_view without_cut_end(std::string_view text) {
    for (size_t length = 1; length < kLongestCharacter && length <= text.size(); ++length) {
        const std::string_view last = text.substr(text.size() - length);
        if (is_continuation(last.front())) continue;
        const bool is_cut = static_cast<unsigned char>(last.front()) >= 0xc0u && !is_valid_utf8(last);
        return is_cut ? text.substr(0, text.size() - length) : text;
    }
    return text;
}

std::string_view without_cut_beginning(std::string_view text) {
    size_t cut = 0;
    while (cut < std::min(text.size(), kLongestCharacter - 1) && is_continuation(text[cut])) ++cut;
    return text.substr(cut);
}

}  // namespace

void BoundedText::add(std::string_view bytes) {
    bytes_ += bytes.size();
    const std::string_view first = bytes.substr(0, half_ - head_.size());
    head_ += first;
    bytes.remove_prefix(first.size());
    if (bytes.size() > half_) bytes.remove_prefix(bytes.size() - half_);
    // The surplus is removed at the double size, so that each byte is moved once.
    if (tail_.size() + bytes.size() > 2 * half_) tail_.erase(0, tail_.size() + bytes.size() - half_);
    tail_ += bytes;
}

std::string BoundedText::text() const {
    if (!is_cut()) return head_ + tail_;
    const std::string_view end = std::string_view(tail_).substr(tail_.size() - half_);
    const std::string_view first = without_cut_end(head_), last = without_cut_beginning(end);
    return base::format("{}\n[... {} bytes are left out ...]\n{}", first, bytes_ - first.size() - last.size(),
                        last);
}

}  // namespace base
