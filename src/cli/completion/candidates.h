// SPDX-License-Identifier: MIT
// The names that completion offers. All come from tables, except names that depend on the machine.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs.h"

namespace cli {

struct Candidate {
    std::string word;
    std::string help;          // may be empty
    bool takes_value = false;  // a flag with a value after it
};
using Candidates = std::vector<Candidate>;

// The names of "@session", "@preset", "@profile" or "@variable". It is called only if they are wanted.
using MachineNames = std::function<Candidates(std::string_view kind)>;

// What the shell lists itself, or the kind of the candidates.
inline constexpr std::string_view kFiles = "@path";
inline constexpr std::string_view kDirectories = "@directory";
inline constexpr std::string_view kLimitKeys = "@limit";  // "memory=": the user continues without a blank

// The candidates for one entry of Verb::words: a word, or a name such as "@topic" that stands for several.
Candidates candidates_for(std::string_view entry, const MachineNames& names);

// The entries that may follow the words `before` of this verb.
std::vector<std::string_view> entries_after(const Verb& verb, std::span<const std::string> before);

// The same for the value of a flag. `takes_value` is false for a flag without a value, and for an unknown
// one.
struct FlagEntries {
    bool takes_value = false;
    std::vector<std::string_view> entries;
};
FlagEntries entries_of_flag(const Verb* verb, std::string_view flag);

// The flags that may stand here, with or without a verb.
Candidates flags_for(const Verb* verb);

// Commands of Slurm or, after a command or for a word that begins with '-', its options.
Candidates slurm_candidates(std::span<const std::string> before, bool wants_options);

// The line of the verb's details that explains this word or flag, or empty.
std::string help_in_details(const Verb& verb, std::string_view word);

}  // namespace cli
