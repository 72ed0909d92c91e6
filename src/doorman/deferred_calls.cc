// SPDX-License-Identifier: MIT
#include "doorman/deferred_calls.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "doorman/backoff.h"
#include "doorman/sockets.h"

namespace doorman {
namespace {

constexpr long kPeriod = 50'000'000;  // nanoseconds
// Each attempt takes a tick of the kernel's clock.
constexpr int kAttemptsAtOnce = 4;

// How the connection came out; none: not yet.
std::optional<int> outcome(const WaitingRoom::Guest& guest) {
    struct pollfd ready = {guest.socket.get(), POLLOUT, 0};
    if (::poll(&ready, 1, 0) != 1) return std::nullopt;
    int number = 0;
    socklen_t size = sizeof number;
    ::getsockopt(guest.socket.get(), SOL_SOCKET, SO_ERROR, &number, &size);
    return number;
}

std::optional<int> try_again(const WaitingRoom::Guest& guest) {
    int number = connect_to(guest.socket.get(), guest.server);
    return number == EAGAIN ? std::nullopt : std::optional(number);
}

}  // namespace

WaitingRoom::WaitingRoom(int gate)
    : gate_(gate), alarm_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
    struct epoll_event event = {.events = EPOLLIN, .data = {}};
    ::epoll_ctl(gate_, EPOLL_CTL_ADD, alarm_.get(), &event);
}

void WaitingRoom::set_alarm(bool is_on) {
    struct timespec period = {0, is_on ? kPeriod : 0};
    struct itimerspec times = {period, period};
    ::timerfd_settime(alarm_.get(), 0, &times, nullptr);
}

void WaitingRoom::admit(Guest guest) {
    guest.deadline = Clock::now() + guest.limit;
    if (!guest.server.descriptor) {
        struct epoll_event event = {.events = EPOLLOUT | EPOLLONESHOT, .data = {}};
        ::epoll_ctl(gate_, EPOLL_CTL_ADD, guest.socket.get(), &event);
    }
    guests_.push_back(std::move(guest));
    set_alarm(true);
}

void WaitingRoom::review(const std::function<bool(uint64_t)>& is_waiting,
                         const std::function<void(uint64_t, Answer)>& send) {
    uint64_t times = 0;
    (void)!::read(alarm_.get(), &times, sizeof times);
    if (guests_.empty()) return;
    int attempts = times > 0 ? kAttemptsAtOnce : 0;
    Clock::time_point now = Clock::now();
    for (size_t left = guests_.size(); left > 0; --left) {
        std::list<Guest> taken;
        taken.splice(taken.begin(), guests_, guests_.begin());
        Guest& guest = taken.front();
        bool is_unix = bool(guest.server.descriptor);
        std::optional<int> number;
        if (!is_waiting(guest.id)) {
            number = 0;  // the caller does not wait any more
        } else if (!is_unix) {
            number = outcome(guest);
        } else if (attempts > 0) {
            --attempts;
            number = try_again(guest);
        }
        if (!number && guest.limit.count() > 0 && now >= guest.deadline)
            number = is_unix ? EAGAIN : EINPROGRESS;
        if (!number) {
            guests_.splice(guests_.end(), taken);  // behind the others: everyone has a turn
            continue;
        }
        // The caller holds the same socket, so closing ours would not take it out.
        if (!is_unix) ::epoll_ctl(gate_, EPOLL_CTL_DEL, guest.socket.get(), nullptr);
        send(guest.id, Answer::of(*number));
    }
    if (guests_.empty()) set_alarm(false);
}

}  // namespace doorman
