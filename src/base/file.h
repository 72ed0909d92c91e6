// SPDX-License-Identifier: MIT
// Descriptors and files. Nothing here follows a policy; callers decide what may be opened.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/path.h"
#include "base/result.h"

namespace base {

// Owns one descriptor.
class Fd {
  public:
    Fd() = default;
    explicit Fd(int number) : number_(number) {}
    Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Fd& operator=(Fd&& other) noexcept;
    ~Fd() { reset(); }

    int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }
    int release() { return std::exchange(number_, -1); }
    void reset();

  private:
    int number_ = -1;
};

// The whole file, refused above `limit` bytes. Callers that care whether a file is absent ask file_exists
// first.
Result<std::string> read_file(const std::string& path, size_t limit = 16u << 20);
Result<std::string> read_descriptor(int fd, size_t limit = 16u << 20);

// Writes a temporary beside `path`, flushes it and renames it over: never half a file.
Status write_file_atomically(const std::string& path, std::string_view content, unsigned mode = 0600);

// Makes the directory and its missing parents, each with `mode`.
Status make_directories(const std::string& path, unsigned mode = 0700);

// Writes everything, through interruptions and short writes.
Status write_all(int fd, std::string_view content);

// A sealed in-memory file with this content, positioned at its start.
Result<Fd> memory_file(const char* name, std::string_view content);

bool file_exists(const std::string& path);

// Of errno after a failed look: the name is closed to us, or nothing is there. Any other reason may be over
// in a moment and says nothing about what is there.
bool is_closed_or_gone(int number);
// The machine lacks something, whatever was looked at.
bool is_shortage(int number);

}  // namespace base
