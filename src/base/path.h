// SPDX-License-Identifier: MIT
// Absolute paths as a type: normalised, without "." or ".." or doubled slashes, no slash at the end.
// Everything here is lexical and reads no disk; host::Tree follows symbolic links.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace base {

class Path {
  public:
    // The root directory.
    Path() : text_("/") {}

    // Refuses text that is not absolute, contains a NUL byte or leads above the root.
    static Result<Path> parse(std::string_view text);

    // For literals and for text that is an absolute path for certain; any other text aborts the program.
    static Path known(std::string_view text);

    const std::string& str() const { return text_; }
    const char* c_str() const { return text_.c_str(); }
    bool is_root() const { return text_.size() == 1; }

    Path parent() const;
    std::string_view name() const;
    std::vector<std::string_view> components() const;
    size_t depth() const;

    // Appends a relative path; ".." is resolved lexically and stops at the root.
    Path operator/(std::string_view relative) const;

    // Component-wise: /foo/bar is within /foo and within itself, /foobar is not within /foo.
    bool is_within(const Path& ancestor) const;
    bool is_strictly_within(const Path& ancestor) const { return *this != ancestor && is_within(ancestor); }

    // The part after `ancestor`, without a leading slash; empty for the ancestor itself.
    std::string_view relative_to(const Path& ancestor) const;

    auto operator<=>(const Path&) const = default;

  private:
    explicit Path(std::string text) : text_(std::move(text)) {}
    std::string text_;
};

}  // namespace base

template <>
struct std::hash<base::Path> {
    size_t operator()(const base::Path& path) const { return std::hash<std::string>()(path.str()); }
};

namespace base {

// Shell-like patterns for names and paths, without the C library's locale dependence.

// `*` and `?` match any text (names of variables); no other character is special.
bool matches_name(std::string_view pattern, std::string_view name, bool ignore_case = false);

// `*` and `?` stop at a slash; `**` crosses slashes. "dir/**" also matches "dir" itself, and "**/" at the
// start of a component matches any number of whole components, including zero: "**/.env" matches ".env" and
// "a/b/.env".
bool matches_path(std::string_view pattern, std::string_view path);

bool has_wildcard(std::string_view text);

}  // namespace base
