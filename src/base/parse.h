// SPDX-License-Identifier: MIT
// Small parsers for numbers, ASCII letters and "host:port". Independent of the locale. The functions for
// numbers refuse blanks, a plus sign, a minus sign for an unsigned type, and numbers too large for their
// type.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace base {

// ---- Numbers

// Removes the number at the start of the text. Without a number, the text stays as it is.
template <std::integral Number>
std::optional<Number> take_number(std::string_view& text, int radix = 10) {
    Number number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, radix);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return number;
}

// The number at the start of the text: 12 in "12 (bash) S".
template <std::integral Number>
std::optional<Number> leading_number(std::string_view text, int radix = 10) {
    return take_number<Number>(text, radix);
}

// The whole text as a number.
template <std::integral Number>
std::optional<Number> parse_number(std::string_view text, int radix = 10) {
    std::optional<Number> number = take_number<Number>(text, radix);
    return text.empty() ? number : std::nullopt;
}

// A port from 1 to 65535, without leading zeros.
inline std::optional<uint16_t> parse_port(std::string_view text) {
    return text.starts_with('0') ? std::nullopt : parse_number<uint16_t>(text);
}

// ---- ASCII

constexpr bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}
constexpr bool is_letter(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}
constexpr bool is_lower_hex_digit(char letter) {
    return is_digit(letter) || (letter >= 'a' && letter <= 'f');
}
// Of the name of a variable, after its first character.
constexpr bool is_name_character(char letter) {
    return is_letter(letter) || is_digit(letter) || letter == '_';
}
// Of an RFC 9110 token, such as a method or the name of a header field.
constexpr bool is_token_character(char letter) {
    return is_letter(letter) || is_digit(letter) ||
           std::string_view("!#$%&'*+-.^_`|~").find(letter) != std::string_view::npos;
}

constexpr bool is_variable_name(std::string_view text) {
    return !text.empty() && !is_digit(text.front()) && std::ranges::all_of(text, is_name_character);
}

constexpr char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}
constexpr char upper(char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}
inline std::string lower(std::string_view text) {
    std::string result(text);
    for (char& letter : result) letter = lower(letter);
    return result;
}
inline std::string upper(std::string_view text) {
    std::string result(text);
    for (char& letter : result) letter = upper(letter);
    return result;
}

constexpr bool equals_ignoring_case(std::string_view left, std::string_view right) {
    return std::ranges::equal(left, right, [](char a, char b) { return lower(a) == lower(b); });
}
constexpr bool starts_ignoring_case(std::string_view text, std::string_view start) {
    return equals_ignoring_case(text.substr(0, start.size()), start);
}

// ---- Hosts and URLs

// An IPv6 address gets brackets, as before a port; a name or an IPv4 address stays as it is.
inline std::string in_brackets(std::string_view host) {
    bool is_v6 = host.find(':') != std::string_view::npos && !host.starts_with('[');
    return is_v6 ? "[" + std::string(host) + "]" : std::string(host);
}
// "example.org:443", "[2001:db8::1]:443"
inline std::string with_port(std::string_view host, int64_t port) {
    return in_brackets(host) + ":" + std::to_string(port);
}
// Only a pair of brackets around the whole text is removed.
constexpr std::string_view without_brackets(std::string_view host) {
    bool has_both = host.size() >= 2 && host.starts_with('[') && host.ends_with(']');
    return has_both ? host.substr(1, host.size() - 2) : host;
}
// The position of the colon before the port, if there is one. An IPv6 address without brackets has no port.
constexpr std::optional<size_t> find_port_colon(std::string_view text) {
    size_t colon = text.rfind(':');
    bool is_inside = colon == std::string_view::npos || text.find(']', colon) != std::string_view::npos;
    bool is_bare_v6 = !is_inside && text.find(':') != colon && !text.starts_with('[');
    return is_inside || is_bare_v6 ? std::nullopt : std::optional(colon);
}

// "%3D" is "=". A percent sign without two digits after it stays.
inline std::string percent_decoded(std::string_view text) {
    std::string plain;
    for (size_t i = 0; i < text.size(); ++i) {
        std::string_view digits = text.substr(i + 1, 2);
        bool may_be_code = text[i] == '%' && digits.size() == 2;
        std::optional<uint8_t> code = may_be_code ? parse_number<uint8_t>(digits, 16) : std::nullopt;
        plain += code ? static_cast<char>(*code) : text[i];
        if (code) i += 2;
    }
    return plain;
}

}  // namespace base
