// SPDX-License-Identifier: MIT
// Reads a configuration file only if its owner and mode show that no other user can have written it. The
// check uses the same descriptor as the read, so that the file can't be exchanged in between; for a symbolic
// link it checks the target. A missing file is not an error; a file that exists and can't be trusted always
// is.
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
    std::optional<uid_t> owner;  // unset: any owner
    mode_t forbidden = 0;        // permission bits that must not be set
    bool may_be_empty = true;
};

// Another user who can write the administrator's files could remove the ceiling.
inline Believable owned_by_administrator(uid_t owner = 0) {
    return {.owner = owner, .forbidden = 022, .may_be_empty = false};
}
// A group may own a user's files (shared laboratories link to one file), but they must not be writable by
// everyone.
inline Believable not_for_everybody() {
    return {.owner = std::nullopt, .forbidden = 002};
}

// Reads a whole regular file that no process is writing. Threat: a file that is written in place is empty for
// a moment and then has only a part of its rules; a part of a ceiling, or of a user's restrictions, protects
// less. A file that changed during the read or in the last moment is refused. A file that is replaced by a
// rename keeps its old content in the open descriptor (tests/admin/ceiling_files.bats,
// tests/jail/resource_faults.bats).
base::Result<std::string> read_settled(int fd, const std::string& path, size_t limit);

struct FileText {
    std::string file;
    std::string text;
};

// config.toml, then conf.d/*.toml by name, each checked, and the directories too.
base::Result<std::vector<FileText>> read_configuration(const std::string& directory,
                                                       const Believable& believable);

// One file of a directory, for instance "presets/mine.toml"; nothing if it does not exist.
base::Result<std::optional<FileText>> read_one(const std::string& directory, const std::string& name,
                                               const Believable& believable);

// Names in a directory that end in ".toml", sorted, without hidden ones.
base::Result<std::vector<std::string>> list_toml_files(int directory);

}  // namespace config
