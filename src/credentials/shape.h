// SPDX-License-Identifier: MIT
// The form of a placeholder. Some programs check a token before they send it, so a placeholder looks like the
// real value.
//
//   ghp_{36}                 36 letters and digits after a fixed text
//   AKIA{16:A-Z0-9}          16 of these characters
//   sk-ant-api03-{93}AA      fixed text on both sides
//   AKIA{16:A-Z0-9} {40}     two parts, for a key of AWS: its ID and its secret
//   jwt                      the header and the claims of the real token, and a random signature
//
// A placeholder holds at least 128 random bits, so that no other session can guess it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret_value.h"

namespace credentials {

constexpr double kMinimumBits = 128;
constexpr size_t kMaximumPlaceholder = 4096;

// Fills the span with random bytes of the system.
using RandomBytes = std::function<void(std::span<uint8_t>)>;

class Shape {
  public:
    // `minimum_bits` is lower only for a value that counts together with another one, such as the key ID of a
    // pair.
    static base::Result<Shape> parse(std::string_view text, double minimum_bits = kMinimumBits);

    bool is_jwt() const { return is_jwt_; }
    bool is_pair() const { return text_.find(' ') != std::string::npos; }
    double bits() const;
    const std::string& text() const { return text_; }

    // Not for jwt.
    std::string make(const RandomBytes& random) const;
    // Whether a real value has this form, for `secret test`. Where the shape names no characters, '-' and '_'
    // fit too.
    bool fits(const base::SecretValue& value) const;

  private:
    struct Part {
        std::string fixed;       // or, if it is empty:
        std::string characters;  // each once
        size_t count = 0;
        bool is_usual = false;  // the shape names no characters
    };
    static base::Result<Part> parse_part(std::string_view inside);

    std::string text_;
    bool is_jwt_ = false;
    std::vector<Part> parts_;
};

// A JSON Web Token whose signature is random. Header and claims are not secret: every holder of the token
// reads them. Fails if the value is not a signed token.
base::Result<std::string> make_jwt_placeholder(const base::SecretValue& value, const RandomBytes& random);
// For a token that the user does not have yet: without claims.
std::string make_first_jwt_placeholder(const RandomBytes& random);

}  // namespace credentials
