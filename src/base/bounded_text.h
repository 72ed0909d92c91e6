// SPDX-License-Identifier: MIT
// The output of a command within a bound of memory: the beginning and the end of it, and its full length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace base {

class BoundedText {
  public:
    // Keeps `most` bytes: of longer output the first and the last half.
    explicit BoundedText(size_t most) : half_(most / 2) {}

    void add(std::string_view bytes);
    uint64_t bytes() const { return bytes_; }
    bool is_cut() const { return bytes_ > 2 * half_; }
    // Of longer output both halves, between them a line "[... 12 bytes are left out ...]". No character of
    // UTF-8 is cut in two.
    std::string text() const;

  private:
    size_t half_;
    uint64_t bytes_ = 0;
    std::string head_, tail_;
};

}  // namespace base
