// SPDX-License-Identifier: MIT
// One process's writer for the record of a session. Several processes write to one file. Each writes a line
// with one call and has its own chain of hashes, so that no process waits for another:
//
//   "writer":"gateway","line":7,"previous":HASH    the hash of this writer's previous line, without its
//                                                  line break; for the first line, the hash of the seed
//
// The last line of the session names the last line of each other writer.
//
// On a full disk lines are lost, and a partial line may remain. The chain continues from the last whole line.
// The next line that can be written begins with a line break if a partial line may precede it, and it follows
// a line with the number of lost lines.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"

namespace audit {

// One event of a session as one line of JSON. Bytes from a jail or from a server are escaped one by one, so
// that a reader sees the original bytes in any encoding; a long text is cut. Nothing here reads a file or a
// time zone, because the network gateway, which can't open files, writes lines too.

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

// The reason in the `journal` line that counts lost lines.
inline constexpr std::string_view kLinesLost = "lines could not be written";

// The end of a chain.
struct Head {
    uint64_t lines = 0;
    std::string hash;  // empty: no chain
};

class Writer {
  public:
    Writer() = default;
    // `file` is open for appending. An empty name means no chain. `part_size`: the number of bytes after
    // which is_full() is true.
    Writer(base::Fd file, std::string_view name, std::string_view seed, uint64_t part_size);
    // Continues the chain of an earlier process. Without a hash: no chain.
    Writer(base::Fd file, std::string_view name, const Head& head);

    // On a full disk the line is lost; the recorded action continues.
    void write(Line line);

    explicit operator bool() const { return static_cast<bool>(file_); }
    int descriptor() const { return file_.get(); }
    // This part of the record has reached its size. Lines go to it until go_on() sets the next part.
    bool is_full() const { return is_full_; }
    void go_on(base::Fd next_part);
    void close() { file_.reset(); }

    Head head() const { return {lines_, hash_}; }
    // Lines that could not be written since the start.
    uint64_t lost() const { return lost_; }

  private:
    bool append(Line line);

    base::Fd file_;
    std::string name_;
    std::string hash_;
    uint64_t lines_ = 0;
    uint64_t written_ = 0;
    uint64_t part_size_ = 0;
    uint64_t lost_ = 0;
    uint64_t unsaid_ = 0;   // those that no line in the record counts yet
    bool is_torn_ = false;  // the file may end with a partial line
    bool is_full_ = false;
};

}  // namespace audit
