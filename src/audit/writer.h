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
#include <string>
#include <string_view>

#include "audit/line.h"
#include "base/file.h"

namespace audit {

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
