// SPDX-License-Identifier: MIT
// Theory of operation. Sequences have the forms of ECMA-48:
//
//   CSI   ESC [ parameters (0x20–0x3f) final byte (0x40–0x7e)
//   OSC   ESC ] text, until BEL or ESC \ ; DCS, SOS, PM and APC: ESC P, X, ^ or _, until ESC \ .
//   other ESC, intermediate bytes (0x20–0x2f), one byte
//
// A terminal executes a control character within a sequence and continues the sequence. So the filter drops
// the beginning of such a sequence, and the rest of it is plain text.
//
// The modes where the kept output begins are known from the output that was dropped. They select the screen,
// the cursor, the mouse and how text is pasted.
#include "session/detached/replay.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace session {
namespace {

constexpr char kEscapeByte = '\x1b';
constexpr char kBellByte = '\a';
constexpr char kEnquiry = '\x05';
// Terminals may take U+0080 to U+009F for ESC and a letter. In UTF-8 they begin with this byte.
constexpr char kControlPrefix = '\xc2';
constexpr size_t kLongestBegun = 64;

bool is_between(char byte, unsigned char first, unsigned char last) {
    const auto value = static_cast<unsigned char>(byte);
    return value >= first && value <= last;
}

// The size of the sequence at the start of `text`, which starts with ESC; nullopt: it has no end here. A
// sequence that a control character interrupts ends before it.
std::optional<size_t> size_of_sequence(std::string_view text) {
    if (text.size() < 2) return std::nullopt;
    size_t at = 2;
    switch (text[1]) {
        case '[':
            while (at < text.size() && is_between(text[at], 0x20, 0x3f)) ++at;
            break;
        case ']':
        case 'P':
        case 'X':
        case '^':
        case '_':
            for (; at < text.size(); ++at) {
                if (text[at] == kBellByte && text[1] == ']') return at + 1;
                if (text[at] == kEscapeByte && at + 1 < text.size())
                    return text[at + 1] == '\\' ? at + 2 : at;
            }
            return std::nullopt;
        default:
            at = 1;
            while (at < text.size() && is_between(text[at], 0x20, 0x2f)) ++at;
            break;
    }
    if (at >= text.size()) return std::nullopt;
    return is_between(text[at], 0x30, 0x7e) ? at + 1 : at;
}

bool has_second_half_of_control(std::string_view text, size_t at) {
    return at + 1 < text.size() && is_between(text[at + 1], 0x80, 0x9f);
}

// Titles and links. Other strings set the clipboard, notify, or ask for colours.
bool is_harmless_text(std::string_view text) {
    constexpr std::string_view kCommands[] = {"0", "1", "2", "8"};
    if (text.ends_with(kBellByte)) {
        text.remove_suffix(1);
    } else if (text.ends_with("\x1b\\")) {
        text.remove_suffix(2);
    } else {
        return false;
    }
    for (size_t at = 0; at < text.size(); ++at) {
        if (is_between(text[at], 0, 0x1f)) return false;
        if (text[at] == kControlPrefix && has_second_half_of_control(text, at)) return false;
    }
    return std::ranges::count(kCommands, text.substr(0, text.find(';'))) > 0;
}

// Reports of status, attributes, modes, sizes and versions.
bool is_question(std::string_view parameters, char final) {
    switch (final) {
        case 'c':
        case 'n':
        case 't':
        case 'x':
        case 'y':
            return true;
        case 'p':
            return parameters.find('$') != std::string_view::npos;
        case 'q':
            return parameters.starts_with('>');
        case 'u':
            return parameters.starts_with('?');
        case 'S':
            return parameters.starts_with('?');
        case 'w':
            return parameters.find('\'') != std::string_view::npos ||
                   parameters.find('$') != std::string_view::npos;
        default:
            return parameters.find('\'') != std::string_view::npos;  // of a locator
    }
}

bool is_replayed(std::string_view sequence) {
    if (sequence.size() < 2) return false;
    switch (sequence[1]) {
        case '[':
            return sequence.size() > 2 && is_between(sequence.back(), 0x40, 0x7e) &&
                   !is_question(sequence.substr(2, sequence.size() - 3), sequence.back());
        case ']':
            return is_harmless_text(sequence.substr(2));
        case 'P':
        case 'X':
        case '^':
        case '_':
        case 'Z':
            return false;
        default:
            return is_between(sequence.back(), 0x30, 0x7e);
    }
}

// CSI ? 1049 ; 25 h
void note_modes(std::string_view sequence, std::map<int, bool>& modes) {
    constexpr size_t kMostModes = 64;
    const char final = sequence.back();
    if (!sequence.starts_with("\x1b[?") || (final != 'h' && final != 'l')) return;
    for (std::string_view word : base::split(sequence.substr(3, sequence.size() - 4), ';')) {
        int mode = 0;
        const bool is_number =
            std::from_chars(word.data(), word.data() + word.size(), mode).ec == std::errc();
        if (is_number && (modes.contains(mode) || modes.size() < kMostModes)) modes[mode] = final == 'h';
    }
}

}  // namespace

std::string without_questions(std::string_view output) {
    constexpr std::string_view kSpecial("\x1b\a\x05\xc2", 4);
    std::string text;
    text.reserve(output.size());
    while (!output.empty()) {
        const size_t plain = std::min(output.find_first_of(kSpecial), output.size());
        text.append(output.substr(0, plain));
        output.remove_prefix(plain);
        if (output.empty()) break;
        if (output.front() == kBellByte || output.front() == kEnquiry) {
            output.remove_prefix(1);
            continue;
        }
        if (output.front() == kControlPrefix) {
            const bool is_character = output.size() > 1 && is_between(output[1], 0xa0, 0xbf);
            if (is_character) text.append(output.substr(0, 2));
            output.remove_prefix(is_character || has_second_half_of_control(output, 0) ? 2 : 1);
            continue;
        }
        std::optional<size_t> size = size_of_sequence(output);
        if (!size) break;
        if (is_replayed(output.substr(0, *size))) text.append(output.substr(0, *size));
        output.remove_prefix(*size);
    }
    return text;
}

void Replay::add(std::string_view output) {
    kept_.append(output);
    // In large steps, so that a byte is moved once.
    if (kept_.size() > 2 * kMost) drop(kept_.size() - kMost);
}

void Replay::drop(size_t count) {
    begun_.append(kept_, 0, count);
    kept_.erase(0, count);
    is_cut_ = true;
    std::string_view dropped = begun_;
    for (size_t at; (at = dropped.find(kEscapeByte)) != std::string_view::npos;) {
        dropped.remove_prefix(at);
        std::optional<size_t> size = size_of_sequence(dropped);
        if (!size) break;
        note_modes(dropped.substr(0, *size), modes_);
        dropped.remove_prefix(*size);
    }
    const bool is_begun = dropped.starts_with(kEscapeByte) && dropped.size() <= kLongestBegun;
    begun_ = is_begun ? std::string(dropped) : std::string();
}

std::string Replay::text() {
    if (kept_.size() > kMost) drop(kept_.size() - kMost);
    if (!is_cut_) return without_questions(kept_);
    std::string text;
    for (const auto& [mode, is_set] : modes_) text += base::format("\x1b[?{}{}", mode, is_set ? 'h' : 'l');
    // The first line may begin within a sequence or a character.
    const size_t line = kept_.find('\n');
    return text + without_questions(std::string_view(kept_).substr(line == std::string::npos ? 0 : line + 1));
}

}  // namespace session
