// SPDX-License-Identifier: MIT
// The record of a session as one of its processes writes it. Several write to one file: each line goes in one
// call, and a chain of hashes is each writer's own, so that nobody waits for anybody:
//
//   "writer":"gateway","line":7,"previous":HASH    the hash of this writer's line before, as it stands in the
//                                                  file without its end; before the first line, of the seed
//
// The last line of the session names how far each of the others had come.
//
// A disk that is full costs lines, and may leave the beginning of one. The chain goes on from the last whole
// line; the next one that can be written begins with a line break where a beginning may stand, and comes
// after a line that says how many were lost.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "audit/line.h"
#include "base/file.h"

namespace audit {

// The reason of the `journal` line that counts them.
inline constexpr std::string_view kLinesLost = "lines could not be written";

// Where a chain stands.
struct Head {
    uint64_t lines = 0;
    std::string hash;  // empty: there is no chain
};

class Writer {
  public:
    Writer() = default;
    // Opened for appending. An empty name: no chain. `part_size`: after how many bytes is_full is true.
    Writer(base::Fd file, std::string_view name, std::string_view seed, uint64_t part_size);

    // A disk that is full costs the line, never what it is about.
    void write(Line line);

    explicit operator bool() const { return static_cast<bool>(file_); }
    int descriptor() const { return file_.get(); }
    // This part of the record has reached its size; what is written until there is another still goes to it.
    bool is_full() const { return is_full_; }
    void go_on(base::Fd next_part);
    void close() { file_.reset(); }

    Head head() const { return {lines_, hash_}; }
    // Lines that could not be written, from the beginning.
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
    uint64_t unsaid_ = 0;   // of those, which no line tells of yet
    bool is_torn_ = false;  // the file may end in the beginning of a line
    bool is_full_ = false;
};

}  // namespace audit
