// SPDX-License-Identifier: MIT
// Judges a new text of a repository's configuration that a jailed program wants to put in place of the old
// one. Pure. An accepted text makes git run no program, read no other file and reach no repository that the
// jail can write, unless the old text did so already.
//
// The rules, in this order:
//   1. Git parses both texts without an error. A line that the old text does not have is in the plain form
//      that git itself writes, so that other programs read it as git does.
//   2. A setting is harmless if the table in git_config_change.cc has its key and its value passes the check
//      of that row. All other settings are the same as before, in the same order, each with the other
//      settings of its key: the last one of a key counts, so a removal or a move can put another in force.
//   3. A branch tracks this repository ("."), a remote that the new text defines, or an address on a server:
//      git takes any other word as the path of a repository.
//   4. The address of a remote from which git fetches missing objects by itself (a partial clone) stays.
// So a harmless setting can be added, changed and removed, and every other one stays.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace plan {

// The largest text that is judged.
inline constexpr size_t kLongestJudgedConfig = 256u << 10;

struct RefusedSetting {
    std::string key;  // as git prints it: "core.fsmonitor"; empty: the text itself is refused
    size_t line = 0;  // in the new text; 0: the setting is missing there
    std::string why;
};

// Whether no jail can write the repository at `path`, which may be relative to the working tree. With a
// `server`, ssh reaches it there, and a relative path begins in the home directory; "~" is not replaced.
using IsOutOfReach = std::function<bool(std::string_view server, std::string_view path)>;

// Nothing: accepted.
std::optional<RefusedSetting> judge_git_config(std::string_view old_text, std::string_view new_text,
                                               const IsOutOfReach& is_out_of_reach);

// `git init` tests the executable bit on the covered configuration, which fails, and writes core.fileMode =
// false. Returns the new text with true instead, if the old text has no such setting.
std::string with_file_mode(std::string_view old_text, std::string new_text);

}  // namespace plan
