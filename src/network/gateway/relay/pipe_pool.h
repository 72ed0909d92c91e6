// SPDX-License-Identifier: MIT
// Pipes for splice(2). Each costs pages and two descriptors, so a relay holds one only while bytes are in it.
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
    static constexpr int kSize = 256 << 10;  // requested; the kernel may limit the total of a user's pipes
    static constexpr size_t kMostKept = 32;
    static constexpr size_t kMostOut = 256;  // the other descriptors are for connections

    // Empty if the kernel or the limit refuses; the caller then copies bytes.
    Pipe take();
    // give_back() takes an empty pipe for reuse. lose() closes one that still has bytes.
    void give_back(Pipe pipe);
    void lose(Pipe pipe);

  private:
    std::vector<Pipe> kept_;
    size_t out_ = 0;
};

}  // namespace network::gateway
