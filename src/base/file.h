// SPDX-License-Identifier: MIT
// Descriptors and files. This code has no policy; callers decide what may be opened.
#pragma once

#include <dirent.h>

#include <cstddef>
#include <functional>
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

// The whole file; an error above `limit` bytes. Callers that must know whether a file is missing call
// file_exists first.
Result<std::string> read_file(const std::string& path, size_t limit = 16u << 20);
Result<std::string> read_descriptor(int fd, size_t limit = 16u << 20);

// Writes a temporary file beside `path`, flushes it and renames it over `path`: never half a file.
Status write_file_atomically(const std::string& path, std::string_view content, unsigned mode = 0600);

// Creates the directory and its missing parents, each with `mode`.
Status make_directories(const std::string& path, unsigned mode = 0700);

// Writes everything, and continues after interruptions and short writes.
Status write_all(int fd, std::string_view content);

// A sealed in-memory file with this content, positioned at its start.
Result<Fd> memory_file(const char* name, std::string_view content);

bool file_exists(const std::string& path);
// Whether `path` is still the name of the open file.
bool is_still_named(int fd, const std::string& path);

// For errno after a failed lookup: we have no access, or the name is missing. Any other error may be
// temporary and does not show whether the file exists.
bool is_closed_or_gone(int number);
// The machine lacks descriptors or memory, whatever the path.
bool is_shortage(int number);

// The entries of a directory, with only the system calls that read it.

// Calls `visit` for every entry of the open directory except "." and "..", until it returns false. False
// where not all entries could be read. A descriptor can be read through only once.
bool visit_entries(int directory, const std::function<bool(const struct dirent64&)>& visit);

}  // namespace base
