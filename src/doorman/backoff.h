// SPDX-License-Identifier: MIT
// connect() on a socket that may block, without blocking: the kernel waits as long as the socket's time limit
// for sending, which is shortened for this call. (O_NONBLOCK would be seen by every other holder of the
// socket.)
#pragma once

#include <sys/socket.h>
#include <sys/time.h>

#include <chrono>

namespace doorman {

class Patience {
  public:
    Patience(int socket, std::chrono::microseconds limit);
    ~Patience();
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;

    // What the caller itself had set; zero is for ever.
    std::chrono::microseconds original() const;

  private:
    int socket_;
    struct timeval original_ = {};
};

bool is_blocking(int socket);

// connect(2), through interruptions; zero or an errno. What is not through in time is EAGAIN or EINPROGRESS.
// Takes SIGALRM and the process's real-time clock for the while.
int connect_within(int socket, const struct sockaddr* address, socklen_t length,
                   std::chrono::microseconds limit);

}  // namespace doorman
