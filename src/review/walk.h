// SPDX-License-Identifier: MIT
// Directories and files of a tree that an attacker may have written, opened without following any link.
#pragma once

#include <sys/stat.h>
#include <time.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/path.h"

namespace review {

struct Name {
    std::string text;
    bool is_directory = false;
    bool is_link = false;
};

// In the order of the file system, until `visit` returns false. False where the directory exists and could
// not be read completely.
bool visit_names(const base::Path& directory, const std::function<bool(const Name&)>& visit);

// Sorted; nothing where the directory exists and could not be read completely.
std::optional<std::vector<Name>> names_in(const base::Path& directory);

std::optional<struct stat> look_at(const base::Path& path);
bool is_directory(const base::Path& path);
bool is_file(const base::Path& path);

// New or changed at that time or later.
bool has_changed(const struct stat& status, const timespec& since);

// Of a regular file; nothing for any other kind, or for a larger file.
std::optional<std::string> content_of(const base::Path& file, size_t limit = 1u << 20);

// Where the path leads over all links; nothing where it is missing.
std::optional<base::Path> physical(const std::string& path);

}  // namespace review
