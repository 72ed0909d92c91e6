// SPDX-License-Identifier: MIT
#include "network/exchange/placeholders.h"

#include <algorithm>
#include <array>

#include "base/parse.h"
#include "base/text.h"

namespace network::exchange {
namespace {

// The values of both alphabets (RFC 4648): "+/" and "-_".
constexpr std::array<int8_t, 256> base64_values() {
    std::array<int8_t, 256> table{};
    table.fill(-1);
    constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < kLetters.size(); ++i)
        table[static_cast<unsigned char>(kLetters[i])] = static_cast<int8_t>(i);
    table['-'] = 62;
    table['_'] = 63;
    return table;
}
constexpr std::array<int8_t, 256> kBase64Values = base64_values();

bool is_base64(char letter) {
    return kBase64Values[static_cast<unsigned char>(letter)] >= 0;
}

// Without padding, and whatever is at the end: a fragment is decoded as far as it goes.
std::string decode_run(std::string_view run) {
    std::string bytes;
    uint32_t group = 0;
    int bits = 0;
    for (char letter : run) {
        group = group << 6 | static_cast<uint32_t>(kBase64Values[static_cast<unsigned char>(letter)]);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes += static_cast<char>(group >> bits & 255);
    }
    return bytes;
}

void add_decoded_runs(std::string_view text, size_t shortest, std::vector<std::string>& readings) {
    for (size_t at = 0; at < text.size();) {
        if (!is_base64(text[at])) {
            ++at;
            continue;
        }
        size_t end = at;
        while (end < text.size() && is_base64(text[end])) ++end;
        std::string_view run = text.substr(at, end - at);
        at = end;
        if (run.size() < shortest * 4 / 3) continue;  // too short for a placeholder
        for (size_t offset = 0; offset < 4; ++offset) readings.push_back(decode_run(run.substr(offset)));
    }
}

}  // namespace

std::vector<std::string> readings_of(std::string_view text, size_t shortest) {
    std::vector<std::string> readings = {std::string(text)};
    add_decoded_runs(text, shortest, readings);
    if (text.find('%') == std::string_view::npos) return readings;
    std::string decoded = base::percent_decoded(text);
    add_decoded_runs(decoded, shortest, readings);
    readings.push_back(std::move(decoded));
    return readings;
}

PlaceholderFinder::PlaceholderFinder(const std::vector<std::string>& placeholders) {
    for (size_t number = 0; number < placeholders.size(); ++number) {
        for (std::string_view part : base::split(placeholders[number], ' ')) {
            if (part.empty()) continue;
            parts_.push_back({base::lower(part), number});
            shortest_ = shortest_ == 0 ? part.size() : std::min(shortest_, part.size());
        }
    }
}

std::vector<size_t> PlaceholderFinder::find_all(std::string_view text) const {
    std::vector<size_t> found;
    if (parts_.empty() || text.size() < shortest_) return found;
    for (std::string& lower : readings_of(text, shortest_)) {
        for (char& letter : lower) letter = base::lower(letter);
        for (const Part& part : parts_) {
            if (lower.find(part.lower) == std::string::npos) continue;
            if (std::ranges::find(found, part.number) == found.end()) found.push_back(part.number);
        }
    }
    return found;
}

std::optional<size_t> PlaceholderFinder::find(std::string_view text) const {
    std::vector<size_t> found = find_all(text);
    return found.empty() ? std::nullopt : std::optional(found.front());
}

}  // namespace network::exchange
