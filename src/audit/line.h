// SPDX-License-Identifier: MIT
// One event of a session as one line of JSON. Whatever came from a jail or from a server is escaped byte by
// byte, so that what is shown is what was there, whatever its encoding claims to be; a long text is cut.
// Nothing here reads a file or a time zone: the network's gateway, which has no files, writes lines too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace audit {

// Of the schema (docs/audit.md). A reader that knows a lower one may pass over what it does not know.
inline constexpr int kVersion = 1;
inline constexpr size_t kLongestText = 256;
inline constexpr size_t kMostTexts = 64;  // of a list

class Line {
  public:
    // {"v":1,"time":"2024-02-29T23:59:59.123Z","kind":KIND
    explicit Line(std::string_view kind);

    Line& text(std::string_view key, std::string_view value);  // an empty one is left out
    Line& path(std::string_view key, std::string_view value);  // cut at 4096 bytes only
    Line& number(std::string_view key, uint64_t value);
    Line& truth(std::string_view key, bool value);
    Line& texts(std::string_view key, std::span<const std::string> values);
    // For values that are objects: what is added until the end is a member of it.
    Line& begin_object(std::string_view key);
    Line& end_object();

    // The line with its end.
    std::string finish() &&;

  private:
    void key(std::string_view key);
    void quoted(std::string_view value, size_t longest);

    std::string text_;
    bool is_first_ = false;  // of the object that is open
};

// As the lines have it, from the clock that people read.
std::string time_text();

}  // namespace audit
