// SPDX-License-Identifier: MIT
#include "base/text.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>

namespace base {
namespace {

struct Range {
    uint32_t first;
    uint32_t last;
};

// Characters that move the cursor, reorder text or hide.
constexpr Range kDeceptive[] = {
    {0x00, 0x1f},        // C0: escape sequences start here
    {0x7f, 0x9f},        // DEL and C1
    {0xad, 0xad},        // soft hyphen
    {0x61c, 0x61c},      // Arabic letter mark
    {0x180e, 0x180e},    // Mongolian vowel separator, of no width
    {0x200b, 0x200f},    // zero width, marks of direction
    {0x2028, 0x202e},    // line separators, bidirectional embeddings and overrides
    {0x2060, 0x206f},    // word joiner, isolates
    {0xfeff, 0xfeff},    // zero-width no-break space
    {0xfff9, 0xfffb},    // interlinear annotation
    {0xe0000, 0xe007f},  // tags: invisible copies of ASCII
};

bool is_deceptive(uint32_t point) {
    return std::ranges::any_of(kDeceptive,
                               [&](Range range) { return point >= range.first && point <= range.last; });
}

size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
        }
    }
    return row[b.size()];
}

}  // namespace

std::string format_list(std::string_view format, std::span<const FormatArgument> arguments) {
    fmt::dynamic_format_arg_store<fmt::format_context> values;
    values.reserve(arguments.size(), 0);
    for (const FormatArgument& argument : arguments)
        std::visit([&](const auto& value) { values.push_back(value); }, argument.value());
    return fmt::vformat(format, values);
}

CodePoint first_code_point(std::string_view text) {
    if (text.empty()) return {};
    auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    unsigned char lead = byte(0);
    if (lead < 0x80) return {lead, 1};
    size_t length = lead >= 0xf0 && lead < 0xf5 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
    if (length == 0 || lead >= 0xf5 || text.size() < length) return {};
    uint32_t value = lead & (0x7f >> length);
    for (size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {};
        value = value << 6 | (byte(i) & 0x3f);
    }
    static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    bool is_surrogate = value >= 0xd800 && value < 0xe000;
    if (value < kSmallest[length] || value > 0x10ffff || is_surrogate) return {};
    return {value, length};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        size_t at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

std::string_view trim(std::string_view text) {
    size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    std::string joined;
    for (size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) joined += separator;
        joined += parts[i];
    }
    return joined;
}

std::string counted(uint64_t count, std::string_view one, std::string_view several) {
    return std::to_string(count) + " " + std::string(count == 1 ? one : several);
}

std::string printable(std::string_view untrusted) {
    std::string shown;
    shown.reserve(untrusted.size());
    while (!untrusted.empty()) {
        CodePoint first = first_code_point(untrusted);
        size_t length = std::max<size_t>(first.length, 1);
        if (first.length != 0 && !is_deceptive(first.value)) {
            shown += untrusted.substr(0, length);
        } else {
            for (char raw : untrusted.substr(0, length)) {
                char escape[5];
                std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(raw));
                shown += escape;
            }
        }
        untrusted.remove_prefix(length);
    }
    return shown;
}

std::string shell_word(std::string_view text) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+";
    if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
    std::string quoted = "'";
    for (char letter : text) {
        if (letter == '\'') {
            quoted += "'\\''";
        } else {
            quoted += letter;
        }
    }
    return quoted + "'";
}

std::string nearest(std::string_view word, std::span<const std::string_view> candidates) {
    return nearest(word, candidates, std::max<size_t>(word.size() / 3, 2));
}

std::string nearest(std::string_view word, std::span<const std::string_view> candidates, size_t most) {
    std::string_view best;
    size_t best_distance = most + 1;
    for (std::string_view candidate : candidates) {
        size_t distance = edit_distance(word, candidate);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return std::string(best);
}

bool is_valid_utf8(std::string_view text) {
    while (!text.empty()) {
        size_t length = first_code_point(text).length;
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string utc_stamp(std::time_t moment) {
    const std::chrono::sys_seconds seconds{std::chrono::seconds(moment)};
    const auto day = std::chrono::floor<std::chrono::days>(seconds);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(seconds - day);
    char text[64];
    std::snprintf(text, sizeof text, "%04d%02u%02uT%02d%02d%02dZ", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()));
    return text;
}

}  // namespace base
