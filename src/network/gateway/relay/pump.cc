// SPDX-License-Identifier: MIT
#include "network/gateway/relay/pump.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>

namespace network::gateway {
namespace {

constexpr int kMostTurns = 64;
constexpr uint64_t kCopied = 128 << 10;  // bytes per direction; a longer stream gets a pipe
constexpr size_t kBuffer = 64 << 10;
constexpr size_t kKeptCapacity = 512;

// There is one thread, and the buffer is empty between two calls.
char buffer[kBuffer];

bool is_only_busy(int error) {
    return error == EAGAIN || error == EINTR;
}

}  // namespace

Pump::Step Pump::send_pending(int to) {
    size_t sent = 0;
    Step step = Step::on;
    while (sent < pending_.size()) {
        ssize_t count = ::send(to, pending_.data() + sent, pending_.size() - sent, MSG_NOSIGNAL);
        if (count < 0) {
            step = is_only_busy(errno) ? Step::wait : Step::broken;
            break;
        }
        sent += static_cast<size_t>(count);
    }
    pending_.erase(0, sent);
    if (pending_.empty() && pending_.capacity() > kKeptCapacity) std::string().swap(pending_);
    return step;
}

Pump::Step Pump::send_pipe(int to) {
    while (in_pipe_ > 0) {
        ssize_t count =
            ::splice(pipe_.read_end.get(), nullptr, to, nullptr, in_pipe_, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
        if (count < 0) return is_only_busy(errno) ? Step::wait : Step::broken;
        if (count == 0) return Step::broken;
        in_pipe_ -= static_cast<size_t>(count);
    }
    return Step::on;
}

Pump::Step Pump::failed_read(ssize_t count) {
    if (count == 0) {
        has_ended_ = true;
        return Step::on;
    }
    if (!is_only_busy(errno)) return Step::broken;
    is_drained_ = true;
    return Step::wait;
}

Pump::Step Pump::receive_into_pipe(int from, PipePool&) {
    ssize_t count = ::splice(from, nullptr, pipe_.write_end.get(), nullptr, PipePool::kSize,
                             SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (count <= 0) return failed_read(count);
    in_pipe_ = static_cast<size_t>(count);
    moved_ += in_pipe_;
    return Step::on;
}

Pump::Step Pump::receive_copy(int from, int to, Filter* filter) {
    ssize_t count = ::recv(from, buffer, kBuffer, 0);
    if (count <= 0) return failed_read(count);
    auto size = static_cast<size_t>(count);
    moved_ += size;
    // A short read: no more bytes were there, and epoll will report new ones.
    if (size < kBuffer && !reads_to_the_end_) is_drained_ = true;
    if (filter != nullptr) {
        filter->take({buffer, size}, pending_);
        return Step::on;
    }
    ssize_t sent = ::send(to, buffer, size, MSG_NOSIGNAL);
    if (sent < 0) {
        if (!is_only_busy(errno)) return Step::broken;
        sent = 0;
    }
    if (sent < count) pending_.assign(buffer + sent, size - static_cast<size_t>(sent));
    return Step::on;
}

Pump::Step Pump::receive(int from, int to, PipePool& pipes, Filter* filter) {
    if (filter == nullptr && moved_ >= kCopied) {
        if (!pipe_) pipe_ = pipes.take();
        if (pipe_) return receive_into_pipe(from, pipes);
    }
    return receive_copy(from, to, filter);
}

void Pump::release(PipePool& pipes) {
    if (!pipe_) return;
    if (in_pipe_ == 0) {
        pipes.give_back(std::exchange(pipe_, {}));
    } else {
        pipes.lose(std::exchange(pipe_, {}));
        in_pipe_ = 0;
    }
}

Pump::State Pump::run(int from, int to, PipePool& pipes, Filter* filter) {
    if (is_through_) return State::through;
    is_drained_ = false;
    for (int turn = 0; turn < kMostTurns; ++turn) {
        Step step = pending_.empty() ? Step::on : send_pending(to);
        if (step == Step::on && in_pipe_ > 0) step = send_pipe(to);
        if (step != Step::on) {
            // Bytes may be left on the reading side for which epoll sends no event.
            reads_to_the_end_ = true;
            return step == Step::wait ? State::waiting : State::broken;
        }
        if (has_ended_) {
            release(pipes);
            is_through_ = true;
            return State::through;
        }
        bool has_to_wait = filter != nullptr && !filter->wants_more();
        if (is_drained_ || has_to_wait) {
            if (has_to_wait) reads_to_the_end_ = true;
            if (pipe_) release(pipes);
            return State::waiting;
        }
        step = receive(from, to, pipes, filter);
        if (step == Step::broken) return State::broken;
        if (has_ended_ && filter != nullptr) filter->take_end(pending_);
        if (step == Step::wait) {
            reads_to_the_end_ = false;
            if (pipe_) release(pipes);
            return State::waiting;
        }
    }
    return State::yielded;
}

}  // namespace network::gateway
