// SPDX-License-Identifier: MIT
// The framing of the Model Context Protocol on standard streams: one JSON message a line. Bytes in, lines
// out; no sockets. A line above the bound costs no memory: its bytes are dropped up to the next line.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace mcp {

inline constexpr size_t kLongestLine = 4u << 20;
inline constexpr size_t kDeepest = 32;

class Framing {
  public:
    struct Line {
        std::string_view text;  // without the line break
        bool is_too_long = false;
    };

    explicit Framing(size_t longest = kLongestLine) : longest_(longest) {}

    // Calls `take` for every complete line. An empty line is left out. The text is valid during the call.
    void add(std::string_view bytes, const std::function<void(Line)>& take);
    // Bytes of a line that is not complete.
    size_t pending() const { return pending_.size(); }

  private:
    void end_line(std::string_view last, const std::function<void(Line)>& take);

    size_t longest_;
    std::string pending_;
    bool is_dropping_ = false;  // the rest of a line that is too long
};

// How deep arrays and objects nest, counted on the text before anything parses it.
size_t depth_of(std::string_view text);

}  // namespace mcp
