// SPDX-License-Identifier: MIT
#include "config/reference/scdoc.h"

namespace config::scdoc {

std::string escaped(std::string_view text) {
    constexpr std::string_view kSpecial = "*_\\#<";
    std::string result;
    for (char letter : text) {
        if (kSpecial.find(letter) != std::string_view::npos) result += '\\';
        result += letter;
    }
    return result;
}

std::string bold(std::string_view text) {
    return "*" + escaped(text) + "*";
}

std::string sentence(std::string_view text) {
    // Do not capitalise the name of a setting, a path or a file.
    std::string_view word = text.substr(0, text.find(' '));
    bool is_plain = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz,:-") == std::string_view::npos;
    std::string result = escaped(text);
    if (!word.empty() && is_plain) result[0] = static_cast<char>(result[0] - 'a' + 'A');
    return result + ".";
}

std::string literal(std::string_view lines) {
    std::string text = "\t```\n\t";
    for (char letter : lines) {
        text += letter;
        if (letter == '\n') text += '\t';
    }
    return text + "\n\t```\n\n";
}

}  // namespace config::scdoc
