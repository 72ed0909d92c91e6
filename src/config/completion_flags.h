// SPDX-License-Identifier: MIT
// What the completions of all shells offer, in one form: the values of flags and the words of verbs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace config {

// `openings` are words that something is written behind at once: "memory=".
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

// Of a run.
std::vector<Flag> all_flags();
// Of a verb alone.
std::vector<Flag> own_flags_of(std::string_view verb);

// Behind `verb`, once `first` was its first word; empty: it is the first that is wanted.
struct Position {
    std::string_view verb;
    std::string_view first;  // "*": whatever it was
    Offer offer;
};
std::vector<Position> verb_positions();

// The question to the program for what it alone knows, or empty. Its answer holds plain names, one a line.
std::string_view question_for(Completes what);

// "a|b" as words; none for an empty text.
std::vector<std::string> words_of(std::string_view bars);
// The verbs, separated by `separator`; those that take a command and the flags of a run, too.
std::string verb_names(std::string_view separator);
std::string running_verb_names(std::string_view separator);

}  // namespace config
