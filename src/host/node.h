// SPDX-License-Identifier: MIT
// The kinds of directory entries.
#pragma once

#include <cstdint>
#include <string>

namespace host {

enum class Kind { file, directory, symlink, socket, device, other };

struct Node {
    Kind kind = Kind::file;
    uint32_t mode = 0;  // permission bits
    uint32_t owner = 0;
    uint32_t group = 0;
    std::string link;  // the text of a symbolic link
};

// The part of a node that decides where a path leads.
struct Glance {
    Kind kind = Kind::file;
    std::string link;

    bool operator==(const Glance&) const = default;
};

struct Entry {
    std::string name;
    Kind kind = Kind::file;
};

}  // namespace host
