// SPDX-License-Identifier: MIT
// Pipes for splice(2). They cost pages and two descriptors each, so a relay holds one only while bytes are in
// it.
#pragma once

#include <vector>

#include "base/file.h"

namespace network::gateway {

struct Pipe {
    base::Fd read_end;
    base::Fd write_end;

    explicit operator bool() const { return bool(read_end); }
};

class PipePool {
  public:
    static constexpr int kSize = 256 << 10;  // asked for; a user's pipes together may be limited to less
    static constexpr size_t kMostKept = 32;
    static constexpr size_t kMostOut = 256;  // descriptors are for connections

    // None when the kernel or the bound says so: then bytes are copied.
    Pipe take();
    // Empty; one with bytes in it is the taker's to close, and counted with lose().
    void give_back(Pipe pipe);
    void lose(Pipe pipe);

  private:
    std::vector<Pipe> kept_;
    size_t out_ = 0;
};

}  // namespace network::gateway
