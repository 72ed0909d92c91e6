// SPDX-License-Identifier: MIT
// SHA-256 in pieces, and HMAC with it, of OpenSSL: for bodies of many megabytes, and for keys that are
// secret.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace network::tls {

using Digest256 = std::array<uint8_t, 32>;

std::string to_hexadecimal(const Digest256& digest);  // in lower case

class Sha256 {
  public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;

    Sha256& update(std::string_view bytes);
    // Once, at the end.
    std::string hexadecimal();

  private:
    struct Context;
    std::unique_ptr<Context> context_;
};

std::string sha256_of(std::string_view bytes);

// The caller wipes the key and, if it is a key too, the result.
Digest256 hmac_sha256(std::string_view key, std::string_view text);

}  // namespace network::tls
