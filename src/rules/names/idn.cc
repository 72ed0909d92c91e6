// SPDX-License-Identifier: MIT
#include "rules/names/idn.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/text.h"

namespace network {
namespace {

constexpr std::string_view kPrefix = "xn--";

// Scripts whose letters look alike are distinguished. The others may be mixed with any.
enum class Script { latin, greek, cyrillic, other };

enum class Letters {
    all,
    odd,   // upper and lower case alternate: upper case has even numbers
    even,  // upper case has odd ones
};

struct Range {
    uint32_t first;
    uint32_t last;
    Script script;
    Letters letters = Letters::all;
};

// Lower-case or caseless, unchanged by composition, permitted by RFC 5892.
constexpr Range kPermitted[] = {
    {0x00df, 0x00f6, Script::latin},
    {0x00f8, 0x00ff, Script::latin},
    {0x0101, 0x0131, Script::latin, Letters::odd},
    {0x0135, 0x0137, Script::latin, Letters::odd},
    {0x013a, 0x013e, Script::latin, Letters::even},
    {0x0142, 0x0148, Script::latin, Letters::even},
    {0x014b, 0x0177, Script::latin, Letters::odd},
    {0x017a, 0x017e, Script::latin, Letters::even},
    {0x03ac, 0x03ce, Script::greek},
    {0x0430, 0x045f, Script::cyrillic},
    {0x05d0, 0x05ea, Script::other},  // Hebrew
    {0x0620, 0x063f, Script::other},  // Arabic, without the stretching mark 0640 and combining signs
    {0x0641, 0x064a, Script::other},
    {0x0904, 0x0928, Script::other},  // Devanagari, without letters that decompose (0929, 0931, 0934)
    {0x092a, 0x0930, Script::other},
    {0x0932, 0x0933, Script::other},
    {0x0935, 0x0939, Script::other},
    {0x093e, 0x094d, Script::other},
    {0x0e01, 0x0e32, Script::other},  // Thai
    {0x0e34, 0x0e3a, Script::other},
    {0x0e40, 0x0e4e, Script::other},
    {0x3005, 0x3007, Script::other},
    {0x3041, 0x3096, Script::other},  // Hiragana
    {0x30a1, 0x30fa, Script::other},  // Katakana
    {0x30fc, 0x30fe, Script::other},
    {0x3400, 0x4dbf, Script::other},  // Han
    {0x4e00, 0x9fff, Script::other},
    {0xac00, 0xd7a3, Script::other},  // Hangul
};

const Range* find_permitted(uint32_t point) {
    auto has = [&](const Range& range) {
        if (point < range.first || point > range.last) return false;
        return range.letters == Letters::all || (point % 2 == 1) == (range.letters == Letters::odd);
    };
    const Range* found = std::ranges::find_if(kPermitted, has);
    return found == std::end(kPermitted) ? nullptr : found;
}

bool is_ascii_letter(uint32_t point) {
    return point >= 'a' && point <= 'z';
}

// ---- Punycode: RFC 3492 with its parameters for host names

constexpr uint32_t kBase = 36, kSmallest = 1, kLargest = 26, kSkew = 38, kDamp = 700;
constexpr uint32_t kFirstBias = 72, kFirstPoint = 0x80, kLastPoint = 0x10ffff;

uint32_t adapted_bias(uint32_t delta, uint32_t count, bool is_first) {
    delta = is_first ? delta / kDamp : delta / 2;
    delta += delta / count;
    uint32_t steps = 0;
    for (; delta > (kBase - kSmallest) * kLargest / 2; steps += kBase) delta /= kBase - kSmallest;
    return steps + (kBase - kSmallest + 1) * delta / (delta + kSkew);
}

uint32_t threshold(uint32_t step, uint32_t bias) {
    return step <= bias ? kSmallest : std::min(step - bias, kLargest);
}

char digit_letter(uint32_t digit) {
    return static_cast<char>(digit < 26 ? 'a' + digit : '0' + (digit - 26));
}

std::optional<uint32_t> digit_value(char letter) {
    if (letter >= 'a' && letter <= 'z') return letter - 'a';
    if (letter >= '0' && letter <= '9') return letter - '0' + 26;
    return std::nullopt;
}

void append_number(std::string& text, uint32_t number, uint32_t bias) {
    for (uint32_t step = kBase;; step += kBase) {
        uint32_t limit = threshold(step, bias);
        if (number < limit) break;
        text += digit_letter(limit + (number - limit) % (kBase - limit));
        number = (number - limit) / (kBase - limit);
    }
    text += digit_letter(number);
}

// At most 63 code points, so no number here can overflow.
std::string encode(const std::u32string& points) {
    std::string text;
    for (char32_t point : points) {
        if (point < kFirstPoint) text += static_cast<char>(point);
    }
    const auto plain = static_cast<uint32_t>(text.size());
    uint32_t done = plain, delta = 0, bias = kFirstBias, next = kFirstPoint;
    if (plain > 0) text += '-';
    while (done < points.size()) {
        char32_t smallest = kLastPoint;
        for (char32_t point : points) {
            if (point >= next) smallest = std::min(smallest, point);
        }
        delta += (smallest - next) * (done + 1);
        next = smallest;
        for (char32_t point : points) {
            if (point < next) ++delta;
            if (point != next) continue;
            append_number(text, delta, bias);
            bias = adapted_bias(delta, done + 1, done == plain);
            delta = 0;
            ++done;
        }
        ++delta;
        ++next;
    }
    return text;
}

std::optional<uint64_t> take_number(std::string_view& text, uint32_t bias) {
    constexpr uint64_t kTooLarge = uint64_t{1} << 32;
    uint64_t number = 0, weight = 1;
    for (uint32_t step = kBase;; step += kBase) {
        if (text.empty()) return std::nullopt;
        std::optional<uint32_t> digit = digit_value(text.front());
        text.remove_prefix(1);
        if (!digit) return std::nullopt;
        number += *digit * weight;
        uint32_t limit = threshold(step, bias);
        if (number >= kTooLarge) return std::nullopt;
        if (*digit < limit) return number;
        weight *= kBase - limit;
        if (weight >= kTooLarge) return std::nullopt;
    }
}

std::optional<std::u32string> decode(std::string_view text) {
    std::u32string points;
    if (size_t dash = text.rfind('-'); dash != std::string_view::npos) {
        points.assign(text.begin(), text.begin() + static_cast<ptrdiff_t>(dash));
        text.remove_prefix(dash + 1);
    }
    uint64_t point = kFirstPoint, at = 0;
    uint32_t bias = kFirstBias;
    while (!text.empty()) {
        bool is_first = at == 0;
        std::optional<uint64_t> delta = take_number(text, bias);
        if (!delta) return std::nullopt;
        const auto count = static_cast<uint32_t>(points.size() + 1);
        at += *delta;
        bias = adapted_bias(static_cast<uint32_t>(*delta), count, is_first);
        point += at / count;
        at %= count;
        if (point > kLastPoint || (point >= 0xd800 && point < 0xe000)) return std::nullopt;
        points.insert(points.begin() + static_cast<ptrdiff_t>(at), static_cast<char32_t>(point));
        ++at;
    }
    return points;
}

base::Error refusal(std::string_view label, const std::string& why) {
    return base::Error{.what = base::format("'{}' {}", base::printable(label), why),
                       .advice = "write it in lower case and composed, or by its A-label (xn--…)"};
}

}  // namespace

base::Result<std::string> a_label_of(std::string_view label) {
    std::u32string points;
    std::optional<Script> script;
    for (std::string_view rest = label; !rest.empty();) {
        base::CodePoint point = base::first_code_point(rest);
        if (point.length == 0) return refusal(label, "is not UTF-8");
        if (points.size() >= 63) return refusal(label, "is longer than the 63 bytes that a label may have");
        std::string_view shown = rest.substr(0, point.length);
        rest.remove_prefix(point.length);
        points += static_cast<char32_t>(point.value);
        Script its_script = is_ascii_letter(point.value) ? Script::latin : Script::other;
        if (point.value >= kFirstPoint) {
            const Range* range = find_permitted(point.value);
            if (!range)
                return refusal(label, base::format("holds '{}', which is not taken as it stands",
                                                   base::printable(shown)));
            its_script = range->script;
        }
        if (its_script == Script::other) continue;
        if (script && *script != its_script) return refusal(label, "mixes alphabets that look alike");
        script = its_script;
    }
    return std::string(kPrefix) + encode(points);
}

bool is_genuine_a_label(std::string_view label) {
    if (!label.starts_with(kPrefix)) return false;
    std::string_view code = label.substr(kPrefix.size());
    // A label has at most 63 bytes. Longer ones are refused elsewhere and never decoded.
    if (code.empty() || code.size() > 59) return false;
    std::optional<std::u32string> points = decode(code);
    if (!points) return false;
    bool needs_it = std::ranges::any_of(*points, [](char32_t point) { return point >= kFirstPoint; });
    return needs_it && encode(*points) == code;
}

}  // namespace network
