// SPDX-License-Identifier: MIT
// Finds placeholders in the parts of a request that carry credentials, in the encodings that programs use
// there.
//
// Threat: a program that injected instructions lead to send its credentials elsewhere. The placeholder has no
// value for the receiver, but the attempt must be seen. Each text is searched as it is, percent-decoded, and
// with every run of base64 letters decoded, at any offset. Upper and lower case do not matter. Tests:
// tests/exchange/placeholders_test.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace network::exchange {

class PlaceholderFinder {
  public:
    // A placeholder may have parts with blanks between: each part is searched for.
    explicit PlaceholderFinder(const std::vector<std::string>& placeholders);

    // The number of the placeholder in this text, or nothing.
    std::optional<size_t> find(std::string_view text) const;
    // All placeholders in this text, each once.
    std::vector<size_t> find_all(std::string_view text) const;

  private:
    struct Part {
        std::string lower;
        size_t number;  // of the placeholder
    };
    std::vector<Part> parts_;
    size_t shortest_ = 0;
};

// Every reading of a text in which a placeholder of at least this length could be: decoded once from percent
// and from base64.
std::vector<std::string> readings_of(std::string_view text, size_t shortest);

}  // namespace network::exchange
