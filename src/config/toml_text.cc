// SPDX-License-Identifier: MIT
#include "config/toml_text.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"

namespace config {
namespace {

constexpr size_t kLongestLine = 90;

std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
}

}  // namespace

std::string toml_string(std::string_view text) {
    std::string quoted = "\"";
    while (!text.empty()) {
        base::CodePoint first = base::first_code_point(text);
        std::string_view letter = text.substr(0, std::max<size_t>(first.length, 1));
        text.remove_prefix(letter.size());
        if (letter == "\"" || letter == "\\") {
            quoted += '\\';
            quoted += letter;
        } else if (first.length > 0 && base::printable(letter) != letter) {
            // Escape characters that would move the cursor or reorder the text in a terminal.
            char escape[16];
            std::snprintf(escape, sizeof escape, first.value > 0xffff ? "\\U%08x" : "\\u%04x", first.value);
            quoted += escape;
        } else {
            quoted += letter;
        }
    }
    return quoted + "\"";
}

std::string toml_scalar(const Setting& setting, std::string_view text) {
    bool is_bare = setting.type == Type::boolean || setting.type == Type::integer ||
                   setting.type == Type::size || setting.type == Type::duration;
    // "64M": a number with a unit is a TOML string.
    bool has_unit = is_bare && setting.type != Type::boolean &&
                    text.find_first_not_of("0123456789") != std::string_view::npos;
    return is_bare && !has_unit ? std::string(text) : toml_string(text);
}

std::string toml_list(const Setting& setting, const std::vector<std::string>& entries) {
    std::vector<std::string> parts;
    if (setting.type == Type::assignments || setting.type == Type::file_texts) {
        for (const std::string& entry : entries) {
            size_t equals = entry.find('=');
            parts.push_back(entry.substr(0, equals) + " = " +
                            toml_string(std::string_view(entry).substr(equals + 1)));
        }
        // TOML does not allow line breaks in an inline table.
        return parts.empty() ? "{}" : "{ " + joined(parts) + " }";
    }
    for (const std::string& entry : entries) parts.push_back(toml_string(entry));
    std::string line = "[" + joined(parts) + "]";
    if (line.size() <= kLongestLine) return line;
    std::string lines = "[\n";
    for (const std::string& part : parts) lines += base::format("    {},\n", part);
    return lines + "]";
}

std::string_view section_of(const Setting& setting) {
    size_t dot = setting.key.find('.');
    return dot == std::string_view::npos ? std::string_view() : setting.key.substr(0, dot);
}

std::string_view name_in_section(const Setting& setting) {
    return setting.key.substr(setting.key.find('.') + 1);
}

}  // namespace config
