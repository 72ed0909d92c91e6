// SPDX-License-Identifier: MIT
#include "doorman/patience.h"

#include <fcntl.h>

#include <cerrno>

namespace doorman {
namespace {

struct timeval to_timeval(std::chrono::microseconds time) {
    return {time.count() / 1'000'000, time.count() % 1'000'000};
}

}  // namespace

Patience::Patience(int socket, std::chrono::microseconds limit) : socket_(socket) {
    socklen_t size = sizeof original_;
    ::getsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &original_, &size);
    struct timeval shortened = to_timeval(limit);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &shortened, sizeof shortened);
}

Patience::~Patience() {
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &original_, sizeof original_);
}

std::chrono::microseconds Patience::original() const {
    return std::chrono::seconds(original_.tv_sec) + std::chrono::microseconds(original_.tv_usec);
}

bool is_blocking(int socket) {
    int flags = ::fcntl(socket, F_GETFL);
    return flags >= 0 && !(flags & O_NONBLOCK);
}

int connect_within(int socket, const struct sockaddr* address, socklen_t length,
                   std::chrono::microseconds limit) {
    Patience patience(socket, limit);
    int returned = 0;
    do {
        returned = ::connect(socket, address, length);
    } while (returned != 0 && errno == EINTR);
    return returned == 0 ? 0 : errno;
}

}  // namespace doorman
