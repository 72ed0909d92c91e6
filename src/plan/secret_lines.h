// SPDX-License-Identifier: MIT
// A copy of a start-up file without the lines that hold a secret. Line numbers stay, and a file that a shell
// accepts is still one that it accepts: a line inside a block becomes a command that does nothing, and where
// a line can't be taken out alone its whole block is left out.
//
// Pure. When in doubt a line is left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"

namespace plan {

// The names of variables that never pass into the jail, env.block and env.block_patterns, sorted for many
// questions at a launch. The case of letters does not count: a start-up file may use a name of its own.
class SecretNames {
  public:
    SecretNames(const policy::Items& block, const policy::Items& patterns);

    bool has(std::string_view name) const;

  private:
    // Upper case, without the wildcards at the ends. Nearly every pattern is one of the first four.
    std::vector<std::string> whole_, beginnings_, ends_, parts_;
    std::vector<std::string> others_;  // with a wildcard inside, as they are
};

// Assigns a variable of such a name, holds a token, a key or an address with a password, or sends a header
// that logs in.
bool holds_secret(std::string_view text, const SecretNames& names);

enum class Syntax {
    sh,     // and bash, zsh, ksh
    csh,    // and tcsh
    fish,   //
    plain,  // one line is one statement
};

// By the name of the file.
Syntax syntax_of(std::string_view file_name);

struct FilteredText {
    std::string text;
    size_t left_out = 0;  // lines
};

FilteredText without_secret_lines(std::string_view content, std::string_view file_name,
                                  const SecretNames& names);

}  // namespace plan
