// SPDX-License-Identifier: MIT
#include "credentials/shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/parse.h"
#include "base/text.h"

namespace credentials {
namespace {

using base::Error;
using base::Result;

constexpr std::string_view kUsual = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view kUrlBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr size_t kShortestSignature = 22;  // 128 bits of base64

Error not_a_shape(std::string_view text, std::string_view why) {
    return Error{
        .what = base::format("'{}' is not the shape of a credential: {}", base::printable(text), why),
        .advice = "write it like ghp_{36} or AKIA{16:A-Z0-9}"};
}

// A blank separates the parts of a pair. A token's characters never end a header field, a word of a shell or
// a JSON text.
bool is_token_text(char letter) {
    return base::is_letter(letter) || base::is_digit(letter) || letter == ' ' ||
           std::string_view("-._~+/=").find(letter) != std::string_view::npos;
}

// "A-Z0-9_": ranges and single characters. Empty if malformed.
std::string characters_of(std::string_view text) {
    std::string characters;
    for (size_t i = 0; i < text.size(); ++i) {
        char first = text[i], last = first;
        if (i + 2 < text.size() && text[i + 1] == '-') {
            last = text[i + 2];
            i += 2;
        }
        if (first > last) return {};
        for (char candidate = first; candidate <= last; ++candidate) {
            if (!is_token_text(candidate) || candidate == ' ') return {};
            if (characters.find(candidate) == std::string::npos) characters += candidate;
        }
    }
    return characters;
}

// Every character with the same probability: bytes at the end of the range would favour the first ones.
std::string random_text(std::string_view characters, size_t count, const RandomBytes& random) {
    const size_t limit = 256 / characters.size() * characters.size();
    std::string text;
    while (text.size() < count) {
        std::array<uint8_t, 64> bytes{};
        random(bytes);
        for (uint8_t byte : bytes) {
            if (byte < limit && text.size() < count) text += characters[byte % characters.size()];
        }
    }
    return text;
}

}  // namespace

Result<Shape::Part> Shape::parse_part(std::string_view inside) {
    size_t colon = std::min(inside.find(':'), inside.size());
    std::optional<size_t> count = base::parse_number<size_t>(inside.substr(0, colon));
    if (!count || *count == 0 || *count > kMaximumPlaceholder) return Error{.what = "a count is malformed"};
    Part part{.fixed = "", .characters = std::string(kUsual), .count = *count, .is_usual = true};
    if (colon < inside.size()) {
        part.characters = characters_of(inside.substr(colon + 1));
        part.is_usual = false;
        if (part.characters.size() < 2) return Error{.what = "its characters are malformed"};
    }
    return part;
}

Result<Shape> Shape::parse(std::string_view text, double minimum_bits) {
    Shape shape;
    shape.text_ = text;
    shape.is_jwt_ = text == "jwt";
    if (shape.is_jwt_) return shape;
    size_t length = 0;
    for (std::string_view rest = text; !rest.empty();) {
        size_t open = std::min(rest.find('{'), rest.size());
        if (open > 0) {
            std::string_view fixed = rest.substr(0, open);
            if (!std::ranges::all_of(fixed, is_token_text))
                return not_a_shape(text, "its fixed text has characters that no token has");
            shape.parts_.push_back({.fixed = std::string(fixed)});
            length += fixed.size();
        }
        rest.remove_prefix(open);
        if (rest.empty()) break;
        size_t close = rest.find('}');
        if (close == std::string_view::npos) return not_a_shape(text, "a brace is left open");
        Result<Part> part = parse_part(rest.substr(1, close - 1));
        if (!part) return not_a_shape(text, part.error().what);
        length += part->count;
        shape.parts_.push_back(*std::move(part));
        rest.remove_prefix(close + 1);
    }
    auto blanks = std::ranges::count(text, ' ');
    if (blanks > 1 || text.starts_with(' ') || text.ends_with(' '))
        return not_a_shape(text, "it has more than two parts");
    if (length > kMaximumPlaceholder) return not_a_shape(text, "it is longer than 4,096 characters");
    if (shape.bits() < minimum_bits) return not_a_shape(text, "it holds fewer than 128 random bits");
    return shape;
}

double Shape::bits() const {
    if (is_jwt_) return kMinimumBits;
    double bits = 0;
    for (const Part& part : parts_) {
        if (part.fixed.empty())
            bits += static_cast<double>(part.count) * std::log2(static_cast<double>(part.characters.size()));
    }
    return bits;
}

std::string Shape::make(const RandomBytes& random) const {
    std::string placeholder;
    for (const Part& part : parts_) {
        placeholder += part.fixed.empty() ? random_text(part.characters, part.count, random) : part.fixed;
    }
    return placeholder;
}

bool Shape::fits(const base::SecretValue& value) const {
    if (is_jwt_) {
        RandomBytes zeros = [](std::span<uint8_t> bytes) { std::ranges::fill(bytes, uint8_t{0}); };
        return make_jwt_placeholder(value, zeros).ok();
    }
    return value.reveal([&](std::string_view rest) {
        for (const Part& part : parts_) {
            if (!part.fixed.empty()) {
                if (!rest.starts_with(part.fixed)) return false;
                rest.remove_prefix(part.fixed.size());
                continue;
            }
            if (rest.size() < part.count) return false;
            for (char letter : rest.substr(0, part.count)) {
                bool is_usual = part.is_usual && (letter == '-' || letter == '_');
                if (!is_usual && part.characters.find(letter) == std::string::npos) return false;
            }
            rest.remove_prefix(part.count);
        }
        return rest.empty();
    });
}

std::string make_first_jwt_placeholder(const RandomBytes& random) {
    constexpr size_t kSignature = 86;
    // {"alg":"none"} and {}.
    return "eyJhbGciOiJub25lIn0.e30." + random_text(kUrlBase64, kSignature, random);
}

Result<std::string> make_jwt_placeholder(const base::SecretValue& value, const RandomBytes& random) {
    Error fault{.what = "the value is not a JSON Web Token with a signature", .advice = "check the source"};
    size_t signature = 0;
    std::string public_part = value.reveal([&](std::string_view token) -> std::string {
        size_t first = token.find('.'), last = token.rfind('.');
        if (first == std::string_view::npos || first == last || first == 0) return "";
        std::string_view claims = token.substr(first + 1, last - first - 1);
        signature = token.size() - last - 1;
        bool is_token = !claims.empty() && std::ranges::all_of(token, [](char letter) {
            return letter == '.' || kUrlBase64.find(letter) != std::string_view::npos;
        });
        if (!is_token || claims.find('.') != std::string_view::npos) return "";
        return std::string(token.substr(0, last + 1));
    });
    if (public_part.empty() || signature < kShortestSignature) return fault;
    return public_part + random_text(kUrlBase64, signature, random);
}

}  // namespace credentials
