// SPDX-License-Identifier: MIT
#include "network/gateway/relay/relay.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace network::gateway {

Stream::Stream(Stream&& other) noexcept
    : loop_(other.loop_), socket_(std::move(other.socket_)), slot_(std::exchange(other.slot_, nullptr)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
    if (this == &other) return *this;
    close();
    loop_ = other.loop_;
    socket_ = std::move(other.socket_);
    slot_ = std::exchange(other.slot_, nullptr);
    return *this;
}

void Stream::watch(base::Watcher& watcher, int which) {
    if (slot_ != nullptr) {
        loop_->hand_over(slot_, watcher, which);
    } else {
        slot_ = loop_->watch(fd(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, watcher, which);
    }
}

void Stream::close() {
    if (!socket_) return;
    // No other process shares these sockets: the gateway starts no process while it serves.
    if (slot_ != nullptr) loop_->forget_closing(std::exchange(slot_, nullptr));
    socket_.reset();
}

void Stream::reset() {
    if (!socket_) return;
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
}

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

class Relay::ClientFilter : public Pump::Filter {
  public:
    explicit ClientFilter(Guard& guard) : guard_(guard) {}
    void take(std::string_view bytes, std::string& onward) override { guard_.take(bytes, onward); }
    void take_end(std::string& onward) override { guard_.take_end(onward); }
    bool wants_more() const override { return guard_.wants_client(); }

  private:
    Guard& guard_;
};

// All of the server's bytes pass. The guard may then release the client's bytes that it held for this reply.
class Relay::ReplyFilter : public Pump::Filter {
  public:
    ReplyFilter(Guard& guard, Pump& to_server) : guard_(guard), to_server_(to_server) {}
    void take(std::string_view bytes, std::string& onward) override {
        onward += bytes;
        std::string released;
        guard_.take_reply(bytes, released);
        to_server_.append(released);
    }
    void take_end(std::string&) override {}
    bool wants_more() const override { return guard_.state() == Guard::State::waiting_for_reply; }

  private:
    Guard& guard_;
    Pump& to_server_;
};

Relay::Relay(base::EventLoop& loop, PipePool& pipes, Stream first, Stream second, const Pending& pending,
             Done done, std::unique_ptr<Guard> guard)
    : loop_(loop),
      pipes_(pipes),
      ends_{std::move(first), std::move(second)},
      guard_(std::move(guard)),
      done_(std::move(done)) {
    pumps_[1].append(pending.to_first);
    if (guard_ && !pending.to_second.empty()) {
        std::string onward;
        guard_->take(pending.to_second, onward);
        pumps_[0].append(onward);
    } else {
        pumps_[0].append(pending.to_second);
    }
    ends_[0].watch(*this, 0);
    ends_[1].watch(*this, 1);
    // epoll sends no event for bytes that arrived before the new watcher. Send the client's pending bytes
    // first: they are the beginning of the answer if the guard refuses a moment later.
    run(1);
    if (!is_finished_) run(0);
}

Relay::Relay(base::EventLoop& loop, PipePool& pipes, base::Fd first, base::Fd second, const Pending& pending,
             Done done)
    : Relay(loop, pipes, Stream(loop, std::move(first)), Stream(loop, std::move(second)), pending,
            std::move(done)) {}

Relay::~Relay() {
    for (Pump& pump : pumps_) pump.release(pipes_);
}

void Relay::on_ready(uint32_t events, int which) {
    if (is_finished_) return;
    constexpr uint32_t kEnds = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
    if (events & kEnds) pumps_[which].expect_end();
    if (events & (EPOLLIN | kEnds)) run(which);
    if (!is_finished_ && pumps_[1 - which].is_blocked() && events & (EPOLLOUT | kEnds)) run(1 - which);
    // An error that no read returned, because the end had been read before.
    if (!is_finished_ && events & EPOLLERR) fail();
}

Pump::State Relay::pump(int direction) {
    Pump& pump = pumps_[direction];
    int from = ends_[direction].fd(), to = ends_[1 - direction].fd();
    if (guard_ && direction == 0) {
        ClientFilter filter(*guard_);
        Pump::State state = pump.run(from, to, pipes_, &filter);
        if (guard_->state() != Guard::State::passed) return state;
        dismiss_guard();
        if (state != Pump::State::waiting) return state;
    } else if (guard_ && guard_->state() == Guard::State::waiting_for_reply) {
        ReplyFilter filter(*guard_, pumps_[0]);
        Pump::State state = pump.run(from, to, pipes_, &filter);
        if (guard_->state() == Guard::State::waiting_for_reply || state != Pump::State::waiting) return state;
        // The client's side continues as well.
        run_later();
        if (guard_->state() == Guard::State::passed) dismiss_guard();
    }
    return pump.run(from, to, pipes_);
}

void Relay::dismiss_guard() {
    protocol_ = guard_->protocol();
    guard_.reset();
}

void Relay::run(int direction) {
    unsigned verdicts = guard_ ? guard_->verdicts() : 0;
    Pump::State state = pump(direction);
    if (guard_) {
        if (guard_->verdicts() != verdicts) received_at_request_ = pumps_[1].moved();
        if (guard_->state() == Guard::State::refused) return finish();
    }
    switch (state) {
        case Pump::State::waiting:
            return;
        case Pump::State::yielded:
            return run_later();
        case Pump::State::through:
            // Closing sends the end to both sides.
            if (pumps_[1 - direction].is_through()) return finish();
            ::shutdown(ends_[1 - direction].fd(), SHUT_WR);
            return;
        case Pump::State::broken:
            break;
    }
    // Still deliver what the other side sent before.
    pump(1 - direction);
    fail();
}

void Relay::run_later() {
    if (std::exchange(will_run_, true)) return;
    if (!token_) token_ = std::make_shared<char>();
    loop_.later([this, alive = std::weak_ptr(token_)] {
        if (alive.expired()) return;
        will_run_ = false;
        if (is_finished_) return;
        run(0);
        if (!is_finished_) run(1);
    });
}

void Relay::fail() {
    for (Stream& end : ends_) end.reset();
    finish();
}

void Relay::finish() {
    if (std::exchange(is_finished_, true)) return;
    is_owed_bytes_ = pumps_[1].is_blocked();
    for (Pump& pump : pumps_) pump.release(pipes_);
    bool may_answer = guard_ && guard_->state() == Guard::State::refused;
    // Reset the server, so that it does not take the beginning of a refused request for all of it.
    may_answer ? ends_[1].reset() : ends_[1].close();
    if (!may_answer) ends_[0].close();
    if (!token_) token_ = std::make_shared<char>();
    loop_.later([this, alive = std::weak_ptr(token_)] {
        if (alive.expired()) return;
        Done done = std::move(done_);
        done(counts());
    });
}

Stream Relay::give_up() {
    is_finished_ = true;
    token_.reset();
    for (Pump& pump : pumps_) pump.release(pipes_);
    ends_[1].reset();
    return std::move(ends_[0]);
}

Stream Relay::take_first() {
    bool is_answered = !guard_ || guard_->verdicts() == 0 || pumps_[1].moved() > received_at_request_;
    if (!is_answered || is_owed_bytes_) ends_[0].close();
    return std::move(ends_[0]);
}

}  // namespace network::gateway
