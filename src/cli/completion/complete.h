// SPDX-License-Identifier: MIT
// Completes a command line: finds what stands at the cursor and offers the names that may stand there. It
// makes no system call and starts no program.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/completion/candidates.h"

namespace cli {

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
