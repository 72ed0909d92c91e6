// SPDX-License-Identifier: MIT
#include "config/bash_ansi.h"

#include <cstdint>

namespace config {
namespace {

// A letter behind the backslash, and what it stands for.
constexpr std::string_view kLetters = "abeEfnrtv\\'\"?";
constexpr std::string_view kMeanings = "\a\b\x1b\x1b\f\n\r\t\v\\'\"?";

struct NumberForm {
    uint32_t base;
    size_t most_digits;
    bool is_code_point;
};

int digit_of(char letter) {
    if (letter >= '0' && letter <= '9') return letter - '0';
    if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
    if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
    return 16;
}

std::string utf8(uint32_t point) {
    auto tail = [&](int shift) { return static_cast<char>(0x80 | ((point >> shift) & 0x3f)); };
    if (point < 0x80) return {static_cast<char>(point)};
    if (point < 0x800) return {static_cast<char>(0xc0 | (point >> 6)), tail(0)};
    if (point < 0x10000) return {static_cast<char>(0xe0 | (point >> 12)), tail(6), tail(0)};
    return {static_cast<char>(0xf0 | ((point >> 18) & 7)), tail(12), tail(6), tail(0)};
}

// Behind the digits; the number goes to `number`. Without a digit `at` stays.
size_t read_number(std::string_view text, size_t at, const NumberForm& form, uint32_t& number) {
    number = 0;
    for (size_t digits = 0; digits < form.most_digits && at < text.size(); ++digits, ++at) {
        uint32_t digit = static_cast<uint32_t>(digit_of(text[at]));
        if (digit >= form.base) break;
        number = number * form.base + digit;
    }
    return at;
}

}  // namespace

std::string decode_ansi_quoted(std::string_view inside) {
    std::string decoded;
    for (size_t at = 0; at < inside.size();) {
        if (inside[at] != '\\' || at + 1 >= inside.size()) {
            decoded += inside[at++];
            continue;
        }
        char letter = inside[at + 1];
        if (size_t known = kLetters.find(letter); known != std::string_view::npos) {
            decoded += kMeanings[known];
            at += 2;
            continue;
        }
        NumberForm form = letter == 'x'   ? NumberForm{16, 2, false}
                          : letter == 'u' ? NumberForm{16, 4, true}
                          : letter == 'U' ? NumberForm{16, 8, true}
                                          : NumberForm{8, 3, false};
        size_t start = at + (form.base == 16 ? 2 : 1);
        uint32_t number = 0;
        size_t end = read_number(inside, start, form, number);
        if (end == start) {  // "\q" is written as it is
            decoded += inside.substr(at, 2);
            at += 2;
            continue;
        }
        if (number == 0) return decoded;
        decoded += form.is_code_point ? utf8(number) : std::string(1, static_cast<char>(number));
        at = end;
    }
    return decoded;
}

}  // namespace config
