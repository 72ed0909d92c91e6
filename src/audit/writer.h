// SPDX-License-Identifier: MIT
// The record of a session as one of its processes writes it. Several write to one file: each line goes in one
// call, and a chain of hashes is each writer's own, so that nobody waits for anybody:
//
//   "writer":"gateway","line":7,"previous":HASH    the hash of this writer's line before, as it stands in the
//                                                  file without its end; before the first line, of the seed
//
// The last line of the session names how far each of the others had come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "audit/line.h"
#include "base/file.h"

namespace audit {

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

  private:
    base::Fd file_;
    std::string name_;
    std::string hash_;
    uint64_t lines_ = 0;
    uint64_t written_ = 0;
    uint64_t part_size_ = 0;
    bool is_full_ = false;
};

}  // namespace audit
