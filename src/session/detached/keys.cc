// SPDX-License-Identifier: MIT
#include "session/detached/keys.h"

#include <optional>

#include "base/text.h"

namespace session {
namespace {

constexpr size_t kMostKeys = 8;
constexpr char kControlBits = 0x1f;

// "ctrl-]" or "d"
std::optional<char> key_of(std::string_view word) {
    constexpr std::string_view kControl = "ctrl-";
    const bool is_control = word.starts_with(kControl);
    if (is_control) word.remove_prefix(kControl.size());
    if (word.size() != 1 || word.front() <= ' ' || word.front() > '~') return std::nullopt;
    const char character = word.front();
    if (!is_control) return character;
    // The terminal sends the lower five bits of '@' to '_' and of the letters.
    const bool has_control = character >= '@' && character <= 'z' && character != '`';
    return has_control ? std::optional(static_cast<char>(character & kControlBits)) : std::nullopt;
}

}  // namespace

base::Result<DetachKeys> DetachKeys::parse(std::string_view text) {
    std::string keys;
    for (std::string_view word : base::split(text, ' ')) {
        std::optional<char> key = word.empty() ? std::nullopt : key_of(word);
        if (!key || keys.size() == kMostKeys)
            return base::Error{.what = base::format("detach.keys: '{}' is not a list of keys",
                                                    base::printable(std::string(text))),
                               .advice = "write at most eight, for instance: ctrl-] d"};
        keys += *key;
    }
    if (keys.empty() || keys.front() > kControlBits)
        return base::Error{.what = "detach.keys does not begin with a control character",
                           .advice = "write for instance: ctrl-] d"};
    return DetachKeys(std::move(keys));
}

std::string DetachKeys::take(std::string_view typed) {
    std::string passed;
    for (const char key : typed) {
        if (are_complete()) break;
        if (key != keys_[matched_]) {
            passed.append(keys_, 0, matched_);
            matched_ = 0;
        }
        if (key == keys_[matched_]) {
            ++matched_;
        } else {
            passed += key;
        }
    }
    return passed;
}

}  // namespace session
