// SPDX-License-Identifier: MIT
// Properties of every command line. Returns the claim that these bytes break, or null.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/arguments.h"

namespace cli {

// Words that each end with NUL.
inline const char* broken_for_arguments(std::string_view bytes) {
    std::vector<std::string> words;
    for (std::string_view word : base::split(bytes, '\0')) words.emplace_back(word);
    base::Result<Arguments> arguments = parse_arguments(words, base::Path::known("/home/me/project"));
    if (!arguments) {
        // cli/output.cc escapes unprintable characters when it prints the message.
        return arguments.error().what.empty() ? "an error says what is wrong" : nullptr;
    }
    if (arguments->words.size() > words.size()) return "words are taken off, none is added";
    if (!arguments->verb.empty()) return nullptr;
    // The parser never changes the words that follow a command.
    if (!std::equal(arguments->words.rbegin(), arguments->words.rend(), words.rbegin()))
        return "a command is the end of the line";
    for (const auto& [key, value] : arguments->settings) {
        if (config::find_setting(key) == nullptr) return "an option sets a setting";
    }
    if (arguments->words.empty()) return nullptr;
    words.push_back("--no-such-option");
    base::Result<Arguments> longer = parse_arguments(words, base::Path::known("/home/me/project"));
    if (!longer || longer->words.size() != arguments->words.size() + 1)
        return "a command's own options are its own";
    return nullptr;
}

}  // namespace cli
