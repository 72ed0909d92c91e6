// SPDX-License-Identifier: MIT
// One event of a session as one line of JSON. Bytes from a jail or from a server are escaped one by one, so
// that a reader sees the original bytes in any encoding; a long text is cut. Nothing here reads a file or a
// time zone, because the network gateway, which can't open files, writes lines too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace audit {

// The version of the schema (docs/records.md). A reader for a lower version may skip lines with a higher one.
inline constexpr int kVersion = 1;
inline constexpr size_t kLongestText = 256;
inline constexpr size_t kMostTexts = 64;  // in a list

class Line {
  public:
    // {"v":1,"time":"2024-02-29T23:59:59.123Z","kind":KIND
    explicit Line(std::string_view kind);

    Line& text(std::string_view key, std::string_view value);  // an empty value is left out
    Line& path(std::string_view key, std::string_view value);  // cut only at 4096 bytes
    Line& number(std::string_view key, uint64_t value);
    Line& truth(std::string_view key, bool value);
    Line& texts(std::string_view key, std::span<const std::string> values);
    // For values that are objects: members added before end_object() belong to the object.
    Line& begin_object(std::string_view key);
    Line& end_object();

    // The line with its line break.
    std::string finish() &&;

  private:
    void key(std::string_view key);
    void quoted(std::string_view value, size_t longest);

    std::string text_;
    bool is_first_ = false;  // in the open object
};

// The time in the format of the lines, from the wall clock.
std::string time_text();

}  // namespace audit
