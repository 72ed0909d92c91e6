// SPDX-License-Identifier: MIT
#include "base/process/event_loop.h"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/process/release_memory.h"

namespace base {

using std::chrono::milliseconds;

namespace {

// Of two times to wait, of which a negative one has no end.
int shorter(int one, int other) {
    return one < 0 || other < 0 ? std::max(one, other) : std::min(one, other);
}

}  // namespace

Source signal_source(int descriptor, std::function<void(const struct signalfd_siginfo&)> act) {
    return {.descriptor = [descriptor] { return descriptor; },
            .serve =
                [descriptor, act = std::move(act)] {
                    struct signalfd_siginfo signal;
                    while (::read(descriptor, &signal, sizeof signal) == sizeof signal) act(signal);
                }};
}

Status EventLoop::open() {
    epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
    if (!epoll_) return system_error("make an event loop", errno);
    return success();
}

EventLoop::Slot EventLoop::watch(int fd, uint32_t events, Watcher& watcher, int which) {
    auto* watched = new Watched{&watcher, which};
    struct epoll_event event = {};
    event.events = events;
    event.data.ptr = watched;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
    return watched;
}

void EventLoop::change(Slot slot, int fd, uint32_t events) {
    struct epoll_event event = {};
    event.events = events;
    event.data.ptr = slot;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void EventLoop::forget(Slot slot, int fd) {
    if (slot == nullptr) return;
    // A stopped loop waits for no more events.
    if (!is_stopped_) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    forget_closing(slot);
}

void EventLoop::forget_closing(Slot slot) {
    if (slot == nullptr) return;
    auto* watched = static_cast<Watched*>(slot);
    watched->watcher = nullptr;
    retired_.emplace_back(watched);
}

void EventLoop::hand_over(Slot slot, Watcher& watcher, int which) {
    auto* watched = static_cast<Watched*>(slot);
    watched->watcher = &watcher;
    watched->which = which;
}

EventLoop::TimerId EventLoop::after(milliseconds delay, std::function<void()> act) {
    TimerId id = ++last_timer_;
    Clock::time_point due = Clock::now() + delay;
    timers_.emplace(std::pair(due, id), std::move(act));
    due_.emplace(id, due);
    return id;
}

void EventLoop::cancel(TimerId& timer) {
    auto found = due_.find(std::exchange(timer, 0));
    if (found == due_.end()) return;
    timers_.erase({found->second, found->first});
    due_.erase(found);
}

void EventLoop::run() {
    while (!is_stopped_) turn(milliseconds(-1));
}

int EventLoop::wait_time(milliseconds longest) const {
    if (!deferred_.empty()) return 0;
    if (timers_.empty()) return static_cast<int>(longest.count());
    auto until = std::chrono::ceil<milliseconds>(timers_.begin()->first.first - Clock::now());
    until = std::max(until, milliseconds(0));
    return static_cast<int>((longest.count() < 0 ? until : std::min(until, longest)).count());
}

void EventLoop::serve_sources(int timeout) {
    polled_.clear();
    for (const Source& source : sources_) {
        polled_.push_back({source.descriptor(), POLLIN, 0});
        if (source.patience) timeout = shorter(timeout, source.patience());
    }
    for (const Check& check : checks_) timeout = shorter(timeout, check.patience());
    int ready = poll_and_rest(polled_.data(), polled_.size(), timeout, has_rested_);
    for (const Check& check : checks_) check.act();
    for (size_t i = 0; ready > 0 && i < polled_.size(); ++i) {
        if (polled_[i].revents != 0) sources_[i].serve();
    }
}

void EventLoop::serve_watchers(int timeout) {
    struct epoll_event events[256];
    int ready = ::epoll_wait(epoll_.get(), events, 256, timeout);
    for (int i = 0; i < ready; ++i) {
        auto* watched = static_cast<Watched*>(events[i].data.ptr);
        if (watched->watcher != nullptr) watched->watcher->on_ready(events[i].events, watched->which);
    }
}

void EventLoop::turn(milliseconds longest) {
    if (epoll_) {
        serve_watchers(wait_time(longest));
    } else {
        serve_sources(wait_time(longest));
    }
    run_timers();
    run_deferred();
    // The destructor of one object may bury another.
    while (!buried_.empty()) std::vector<std::shared_ptr<void>>(std::exchange(buried_, {})).clear();
    retired_.clear();
}

void EventLoop::run_timers() {
    Clock::time_point now = Clock::now();
    while (!timers_.empty() && timers_.begin()->first.first <= now) {
        auto first = timers_.extract(timers_.begin());
        due_.erase(first.key().second);
        first.mapped()();
    }
}

void EventLoop::run_deferred() {
    // Calls that are deferred here run in the next turn.
    std::vector<std::function<void()>> acts = std::exchange(deferred_, {});
    for (auto& act : acts) act();
}

}  // namespace base
