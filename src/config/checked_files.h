// SPDX-License-Identifier: MIT
// Reads configuration files only where their owner and mode say that nobody else can have written them. What
// is checked is the descriptor that is then read, so that nothing can be exchanged in between; a symbolic
// link is judged by its target. A file that is not there is no error; a file that is there and can't be
// believed always is.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace config {

inline constexpr size_t kLargestConfiguration = 1u << 20;

struct Believable {
    std::optional<uid_t> owner;  // unset: anybody's
    mode_t forbidden = 0;        // permission bits that nobody may have
    bool may_be_empty = true;
};

// Whoever else can write the administrator's files could lift the ceiling.
inline Believable owned_by_administrator(uid_t owner = 0) {
    return {.owner = owner, .forbidden = 022, .may_be_empty = false};
}
// A user's files may be a group's (shared laboratories link to one file), never everybody's.
inline Believable not_for_everybody() {
    return {.owner = std::nullopt, .forbidden = 002};
}

// The whole of a regular file that nobody is writing to. Threat: one that is written in place is empty for a
// moment and then holds a part of its rules, and a part of a ceiling, or of what a user closes, is a lower
// wall. What changed between two looks, or this very moment, is not believed; one that is replaced by a
// rename stays what it was when it was opened (tests/admin/ceiling_files.bats,
// tests/jail/resource_faults.bats).
base::Result<std::string> read_settled(int fd, const std::string& path, size_t limit);

struct FileText {
    std::string file;
    std::string text;
};

// config.toml, then conf.d/*.toml by name, each checked, and the directories too.
base::Result<std::vector<FileText>> read_configuration(const std::string& directory,
                                                       const Believable& believable);

// One file of a directory, for instance "presets/mine.toml"; nothing where it does not exist.
base::Result<std::optional<FileText>> read_one(const std::string& directory, const std::string& name,
                                               const Believable& believable);

// Names in a directory that end in ".toml", sorted, hidden ones left out.
base::Result<std::vector<std::string>> list_toml_files(int directory);

}  // namespace config
