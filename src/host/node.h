// SPDX-License-Identifier: MIT
// What can lie under a name.
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

// Of a node, what decides where a path leads.
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
