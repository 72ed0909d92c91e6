// SPDX-License-Identifier: MIT
#include "network/gateway/relay/relay.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <utility>

#include "network/gateway/relay/pipe_pool.h"

namespace network::gateway {

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
