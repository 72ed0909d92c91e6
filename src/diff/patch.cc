// SPDX-License-Identifier: MIT
#include "diff/patch.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/encoding/sha1.h"
#include "base/text.h"
#include "diff/lines.h"

namespace diff {
namespace {

constexpr size_t kContext = 3;
constexpr uint32_t kTypeBits = 0170000;

bool is_link(const Side& side) {
    return (side.mode & kTypeBits) == (kLinkMode & kTypeBits);
}

std::string mode_text(uint32_t mode) {
    char text[16];
    std::snprintf(text, sizeof text, "%06o", mode);
    return text;
}

std::string prefixed(char side, std::string_view path) {
    return quoted_name(std::string(1, side) + "/" + std::string(path));
}

// "@@ -1,3 +1,4 @@". git writes 0 as the line of an empty side, and no count of 1.
std::string hunk_side(size_t begin, size_t end) {
    size_t count = end - begin;
    std::string first = std::to_string(count == 0 ? begin : begin + 1);
    return count == 1 ? first : base::format("{},{}", first, count);
}

void add_line(std::string& text, char mark, std::string_view line) {
    text += mark;
    text += line;
    if (!line.ends_with('\n')) text += "\n\\ No newline at end of file\n";
}

std::string hunks(std::string_view before_text, std::string_view after_text) {
    const std::vector<std::string_view> before = lines_of(before_text), after = lines_of(after_text);
    const std::vector<Replacement> all = compare(before, after);
    std::string text;
    for (size_t first = 0; first < all.size();) {
        // Replacements whose contexts touch are one hunk.
        size_t last = first;
        while (last + 1 < all.size() && all[last + 1].before_begin - all[last].before_end <= 2 * kContext)
            ++last;
        const size_t lead = std::min(kContext, all[first].before_begin);
        const size_t tail = std::min(kContext, before.size() - all[last].before_end);
        size_t at = all[first].before_begin - lead;
        text += base::format("@@ -{} +{} @@\n", hunk_side(at, all[last].before_end + tail),
                             hunk_side(all[first].after_begin - lead, all[last].after_end + tail));
        for (size_t i = first; i <= last; ++i) {
            for (; at < all[i].before_begin; ++at) add_line(text, ' ', before[at]);
            for (; at < all[i].before_end; ++at) add_line(text, '-', before[at]);
            for (size_t to = all[i].after_begin; to < all[i].after_end; ++to) add_line(text, '+', after[to]);
        }
        for (size_t end = all[last].before_end + tail; at < end; ++at) add_line(text, ' ', before[at]);
        first = last + 1;
    }
    return text;
}

// ---- Binary files

std::string object_id(const Side& side) {
    if (!side.exists) return std::string(40, '0');
    std::string head = base::format("blob {}", side.content.size());
    head += '\0';
    std::string id;
    for (unsigned char byte : base::sha1(head + std::string(side.content))) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", byte);
        id += digits;
    }
    return id;
}

uint32_t adler32(std::string_view content) {
    constexpr uint32_t kBase = 65521;
    uint32_t low = 1, high = 0;
    for (unsigned char byte : content) {
        low = (low + byte) % kBase;
        high = (high + low) % kBase;
    }
    return high << 16 | low;
}

// A zlib stream of stored blocks: valid for every reader, without a compressor.
std::string zlib_stored(std::string_view content) {
    constexpr size_t kLargestBlock = 65535;
    std::string stream("\x78\x01", 2);
    size_t at = 0;
    do {
        const size_t size = std::min(kLargestBlock, content.size() - at);
        const bool is_last = at + size == content.size();
        const auto length = static_cast<uint16_t>(size);
        const auto inverse = static_cast<uint16_t>(~length);
        stream += is_last ? '\1' : '\0';
        for (uint16_t word : {length, inverse}) {
            stream += static_cast<char>(word & 0xff);
            stream += static_cast<char>(word >> 8);
        }
        stream += content.substr(at, size);
        at += size;
    } while (at < content.size());
    const uint32_t sum = adler32(content);
    for (int shift = 24; shift >= 0; shift -= 8) stream += static_cast<char>(sum >> shift & 0xff);
    return stream;
}

// git's base 85: lines of up to 52 bytes, each with its length as a letter.
std::string base85_lines(std::string_view content) {
    constexpr std::string_view kDigits =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
    constexpr size_t kLine = 52, kLetters = 26;
    std::string text;
    for (size_t at = 0; at < content.size(); at += kLine) {
        std::string_view line = content.substr(at, kLine);
        text += static_cast<char>(line.size() <= kLetters ? 'A' + line.size() - 1
                                                          : 'a' + line.size() - kLetters - 1);
        for (size_t i = 0; i < line.size(); i += 4) {
            uint32_t word = 0;
            for (size_t j = i; j < i + 4; ++j)
                word = word << 8 | (j < line.size() ? static_cast<unsigned char>(line[j]) : 0u);
            char digits[5];
            for (int digit = 4; digit >= 0; --digit, word /= 85) digits[digit] = kDigits[word % 85];
            text.append(digits, sizeof digits);
        }
        text += '\n';
    }
    return text;
}

std::string literal(const Side& side) {
    return base::format("literal {}\n{}\n", side.content.size(), base85_lines(zlib_stored(side.content)));
}

bool has_binary_side(const Side& before, const Side& after) {
    return before.is_too_large || after.is_too_large || is_binary(before.content) || is_binary(after.content);
}

uint64_t size_of(const Side& side) {
    return side.is_too_large ? side.size : side.content.size();
}

std::string binary_body(std::string_view path, const Side& before, const Side& after, BinaryFormat binary) {
    bool is_literal = binary == BinaryFormat::literal && !before.is_too_large && !after.is_too_large;
    if (is_literal) return "GIT binary patch\n" + literal(after) + literal(before);
    return base::format("Binary files {} and {} differ ({} and {} bytes)\n",
                        before.exists ? prefixed('a', path) : "/dev/null",
                        after.exists ? prefixed('b', path) : "/dev/null", size_of(before), size_of(after));
}

bool is_same_content(const Side& before, const Side& after) {
    if (before.is_too_large || after.is_too_large) return false;
    return before.exists == after.exists && before.content == after.content;
}

}  // namespace

std::string quoted_name(std::string_view name) {
    constexpr std::string_view kSpecial = "\a\b\t\n\v\f\r\"\\";
    constexpr std::string_view kLetters = "abtnvfr\"\\";
    std::string text;
    bool is_plain = true;
    for (char letter : name) {
        size_t special = kSpecial.find(letter);
        if (special != std::string_view::npos) {
            text += '\\';
            text += kLetters[special];
            is_plain = false;
        } else if (auto byte = static_cast<unsigned char>(letter); byte < ' ' || byte >= 127) {
            char octal[8];
            std::snprintf(octal, sizeof octal, "\\%03o", byte);
            text += octal;
            is_plain = false;
        } else {
            text += letter;
        }
    }
    return is_plain ? text : "\"" + text + "\"";
}

bool is_binary(std::string_view content) {
    constexpr size_t kExamined = 8000;
    return content.substr(0, kExamined).find('\0') != std::string_view::npos;
}

std::string patch(std::string_view path, const Side& before, const Side& after, BinaryFormat binary) {
    if (before.exists && after.exists && is_link(before) != is_link(after))
        return patch(path, before, {}, binary) + patch(path, {}, after, binary);
    const bool has_same_content = is_same_content(before, after);
    const bool has_same_mode = before.exists && after.exists && before.mode == after.mode;
    if (has_same_content && (has_same_mode || !before.exists)) return "";
    std::string text = base::format("diff --git {} {}\n", prefixed('a', path), prefixed('b', path));
    if (!before.exists) {
        text += "new file mode " + mode_text(after.mode) + "\n";
    } else if (!after.exists) {
        text += "deleted file mode " + mode_text(before.mode) + "\n";
    } else if (!has_same_mode) {
        text += "old mode " + mode_text(before.mode) + "\nnew mode " + mode_text(after.mode) + "\n";
    }
    const bool is_binary_change = has_binary_side(before, after);
    const bool has_content = !has_same_content && (size_of(before) > 0 || size_of(after) > 0);
    // git needs the ids of an empty file that is made or removed, and of binary ones.
    const bool can_have_id = !before.is_too_large && !after.is_too_large;
    if (can_have_id && !has_same_content) {
        text += base::format("index {}..{}", object_id(before), object_id(after));
        text += has_same_mode ? base::format(" {}\n", mode_text(after.mode)) : "\n";
    }
    if (!has_content) return text;
    if (is_binary_change) return text + binary_body(path, before, after, binary);
    // A name with a space needs a tab behind it, or patch programs would cut it.
    const std::string end = path.find(' ') != std::string_view::npos ? "\t\n" : "\n";
    text += "--- " + (before.exists ? prefixed('a', path) + end : "/dev/null\n");
    text += "+++ " + (after.exists ? prefixed('b', path) + end : "/dev/null\n");
    return text + hunks(before.content, after.content);
}

std::string rename_patch(std::string_view from, std::string_view to) {
    return base::format("diff --git {} {}\nsimilarity index 100%\nrename from {}\nrename to {}\n",
                        prefixed('a', from), prefixed('b', to), quoted_name(from), quoted_name(to));
}

Counts count_lines(const Side& before, const Side& after) {
    if (has_binary_side(before, after)) return {.is_binary = true};
    Counts counts;
    for (const Replacement& one : compare(lines_of(before.content), lines_of(after.content))) {
        counts.removed += one.before_end - one.before_begin;
        counts.added += one.after_end - one.after_begin;
    }
    return counts;
}

}  // namespace diff
