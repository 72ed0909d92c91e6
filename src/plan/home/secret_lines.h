// SPDX-License-Identifier: MIT
// A copy of a start-up file without the lines that contain a secret. Line numbers stay, and a shell that
// accepts the file also accepts the copy: a line inside a block becomes a command that does nothing, and
// where a line can't be removed alone its whole block is left out.
//
// Pure. When in doubt a line is left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"

namespace plan {

// The names of variables that are never passed into the jail (env.block and env.block_patterns), sorted for
// many lookups at a launch. Upper and lower case are equal, because a start-up file may use its own spelling.
class SecretNames {
  public:
    SecretNames(const policy::Items& block, const policy::Items& patterns);

    bool has(std::string_view name) const;

  private:
    // Upper case, without the wildcards at the ends. Nearly every pattern belongs to one of the first four.
    std::vector<std::string> whole_, beginnings_, ends_, parts_;
    std::vector<std::string> others_;  // with a wildcard inside, as they are
};

// Whether the text assigns a variable of such a name, contains a token, a key or a URL with a password, or
// sends an authorization header.
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
