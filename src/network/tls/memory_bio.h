// SPDX-License-Identifier: MIT
// The bytes between OpenSSL and a socket. OpenSSL's own memory BIO sets each byte to zero before it is
// written and again when it is dropped, which costs as much as a copy. Only ciphertext is in here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

struct bio_st;

namespace network::tls {

class MemoryBuffer {
  public:
    // More room than this is given back when the last byte is taken.
    static constexpr size_t kMostKept = 128 << 10;

    void append(std::string_view bytes);
    size_t capacity() const { return bytes_.capacity(); }
    std::string_view waiting() const { return std::string_view(bytes_).substr(at_); }
    void drop(size_t count);

  private:
    std::string bytes_;
    size_t at_ = 0;
};

// A BIO that reads from the buffer or writes to it; null without memory. The buffer outlives it.
bio_st* make_memory_bio(MemoryBuffer& buffer);

}  // namespace network::tls
