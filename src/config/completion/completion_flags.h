// SPDX-License-Identifier: MIT
// The completions for all shells in one form: the values of flags and the words of verbs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace config {

// `openings` are words that the user continues without a blank: "memory=".
enum class Completes { nothing, words, openings, paths, directories, variables, sessions, presets, profiles };

struct Offer {
    Completes what = Completes::nothing;
    std::vector<std::string> words;
};

struct Flag {
    std::string name;
    std::string help;
    bool takes_value = false;
    Offer value;
};

// Flags of a run.
std::vector<Flag> all_flags();
// Flags of one verb only.
std::vector<Flag> own_flags_of(std::string_view verb);

// The offer after `verb` and its first word `first`; an empty `first` means the first word itself.
struct Position {
    std::string_view verb;
    std::string_view first;  // "*": any word
    Offer offer;
};
std::vector<Position> verb_positions();

// The command that asks the program for names that only it can list, or empty. It prints plain names, one a
// line.
std::string_view question_for(Completes what);

// "a|b" as words; an empty list for an empty text.
std::vector<std::string> words_of(std::string_view bars);
// All verbs, separated by `separator`; below, only those that take a command and the flags of a run.
std::string verb_names(std::string_view separator);
std::string running_verb_names(std::string_view separator);

}  // namespace config
