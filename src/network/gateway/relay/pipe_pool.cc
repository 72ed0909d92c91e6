// SPDX-License-Identifier: MIT
#include "network/gateway/relay/pipe_pool.h"

#include <fcntl.h>
#include <unistd.h>

namespace network::gateway {

Pipe PipePool::take() {
    Pipe pipe;
    if (!kept_.empty()) {
        pipe = std::move(kept_.back());
        kept_.pop_back();
    } else if (out_ < kMostOut) {
        int ends[2];
        if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return pipe;
        pipe.read_end = base::Fd(ends[0]);
        pipe.write_end = base::Fd(ends[1]);
        ::fcntl(ends[1], F_SETPIPE_SZ, kSize);
    }
    if (pipe) ++out_;
    return pipe;
}

void PipePool::give_back(Pipe pipe) {
    if (!pipe) return;
    --out_;
    if (kept_.size() < kMostKept) kept_.push_back(std::move(pipe));
}

void PipePool::lose(Pipe pipe) {
    if (pipe) --out_;
}

}  // namespace network::gateway
