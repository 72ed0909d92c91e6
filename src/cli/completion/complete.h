// SPDX-License-Identifier: MIT
// Completes a command line: finds what stands at the cursor and offers the names that may stand there. It
// makes no system call and starts no program.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs.h"

namespace cli {

// The names that completion offers. All come from tables, except names that depend on the machine.

struct Candidate {
    std::string word;
    std::string help;          // may be empty
    bool takes_value = false;  // a flag with a value after it
};
using Candidates = std::vector<Candidate>;

// The names of "@session", "@preset", "@profile", "@variable" or "@credential". It is called only if they are
// wanted.
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

struct Completion {
    enum class Kind {
        words,        // the candidates
        flags,        // likewise
        openings,     // likewise; the user continues them without a blank
        files,        // the shell lists files
        directories,  // the shell lists directories
        programs,     // the candidates, and the shell lists programs
        command,      // the shell completes the command that begins at the word with this `index`
    };

    Kind kind = Kind::words;
    std::string front;  // the beginning of the word that stays unchanged: "--network="
    size_t index = 0;
    Candidates candidates;  // all that may stand here; the word at the cursor does not filter them
};

// `words` are those after the program's name up to the cursor. The last one is the word at the cursor, often
// incomplete or empty; without any word, an empty one is completed.
Completion complete(std::span<const std::string> words, const MachineNames& names);

}  // namespace cli
