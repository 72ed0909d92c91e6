// SPDX-License-Identifier: MIT
#include "network/gateway/relay/stream.h"

#include <sys/epoll.h>
#include <sys/socket.h>

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

}  // namespace network::gateway
