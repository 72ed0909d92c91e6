// SPDX-License-Identifier: MIT
// Patches in git's format, from two contents. Makes no system calls and runs no program: a diff driver or a
// text converter that an untrusted file selects would run code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace diff {

inline constexpr uint32_t kFileMode = 0100644;
inline constexpr uint32_t kProgramMode = 0100755;
inline constexpr uint32_t kLinkMode = 0120000;

// One side of a change. The content of a symbolic link is its target.
struct Side {
    bool exists = false;
    uint32_t mode = kFileMode;
    std::string_view content = {};
    uint64_t size = 0;          // of a content that is too large to be compared
    bool is_too_large = false;  // then `content` is not used
};

enum class BinaryFormat {
    summary,  // a line with both sizes
    literal,  // git's own format, which `git apply` reads
};

// As git writes a name in a header: quoted where it has control characters, quotes or bytes above 127.
std::string quoted_name(std::string_view name);

// A NUL in the first 8,000 bytes, as git decides it.
bool is_binary(std::string_view content);

// The whole patch of one file: header, modes and hunks with three lines of context. A change between a file
// and a link is a removal and an addition, as git needs it. Empty where both sides are the same.
std::string patch(std::string_view path, const Side& before, const Side& after, BinaryFormat binary);

// A file that has the same content and mode at another name.
std::string rename_patch(std::string_view from, std::string_view to);

// Lines that a patch adds and removes; both 0 for a binary file.
struct Counts {
    uint64_t added = 0, removed = 0;
    bool is_binary = false;
};
Counts count_lines(const Side& before, const Side& after);

}  // namespace diff
