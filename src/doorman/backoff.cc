// SPDX-License-Identifier: MIT
#include "doorman/backoff.h"

#include <fcntl.h>
#include <signal.h>

#include <cerrno>

namespace doorman {
namespace {

struct timeval to_timeval(std::chrono::microseconds time) {
    return {time.count() / 1'000'000, time.count() % 1'000'000};
}

// Threat: the caller holds the same socket, and a thread of its own sets the limit back to "for ever" just
// before the kernel looks at it: the stage would wait for good, and neither signals nor the end of the
// command would be seen to (tests/jail/landlock_attacks.bats). A clock that only this process has ends the
// wait then.
class Interruptions {
  public:
    explicit Interruptions(std::chrono::microseconds limit) {
        struct sigaction action = {};
        action.sa_handler = [](int) {};  // and no SA_RESTART
        ::sigaction(SIGALRM, &action, nullptr);
        sigset_t alarm;
        sigemptyset(&alarm);
        sigaddset(&alarm, SIGALRM);
        ::pthread_sigmask(SIG_UNBLOCK, &alarm, &before_);
        // More than one: the first may come before the wait has begun.
        struct itimerval times = {to_timeval(kAgain), to_timeval(limit + kAgain)};
        ::setitimer(ITIMER_REAL, &times, nullptr);
    }
    ~Interruptions() {
        struct itimerval none = {};
        ::setitimer(ITIMER_REAL, &none, nullptr);
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    Interruptions(const Interruptions&) = delete;
    Interruptions& operator=(const Interruptions&) = delete;

  private:
    static constexpr std::chrono::microseconds kAgain{20'000};
    sigset_t before_ = {};
};

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
    using Clock = std::chrono::steady_clock;
    const Clock::time_point deadline = Clock::now() + limit;
    Patience patience(socket, limit);
    Interruptions interruptions(limit);
    int returned = 0;
    do {
        returned = ::connect(socket, address, length);
    } while (returned != 0 && errno == EINTR && Clock::now() < deadline);
    if (returned == 0) return 0;
    if (errno != EINTR) return errno;
    return address->sa_family == AF_UNIX ? EAGAIN : EINPROGRESS;
}

}  // namespace doorman
