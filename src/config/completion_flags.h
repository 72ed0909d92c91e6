// SPDX-License-Identifier: MIT
// The flags of a run as the completions of all shells need them: settings and other flags in one form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace config {

enum class Completes { nothing, words, paths, directories };

// One flag as all three shells need it.
struct Flag {
    std::string name;
    std::string help;
    bool takes_value = false;
    Completes completes = Completes::nothing;
    std::vector<std::string> words;
};

std::vector<Flag> all_flags();

// "a|b" as words; none for an empty text.
std::vector<std::string> words_of(std::string_view bars);

}  // namespace config
