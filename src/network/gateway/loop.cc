// SPDX-License-Identifier: MIT
#include "network/gateway/loop.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

namespace network::gateway {

using std::chrono::milliseconds;

base::Status Loop::open() {
    epoll_ = base::Fd(::epoll_create1(EPOLL_CLOEXEC));
    if (!epoll_) return base::system_error("make the gateway's event loop", errno);
    return base::success();
}

Loop::Slot Loop::watch(int fd, uint32_t events, Watcher& watcher, int which) {
    auto* watched = new Watched{&watcher, which};
    struct epoll_event event = {};
    event.events = events;
    event.data.ptr = watched;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
    return watched;
}

void Loop::change(Slot slot, int fd, uint32_t events) {
    struct epoll_event event = {};
    event.events = events;
    event.data.ptr = slot;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void Loop::forget(Slot slot, int fd) {
    if (slot == nullptr) return;
    // A stopped loop waits for no more events.
    if (!is_stopped_) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    forget_closing(slot);
}

void Loop::forget_closing(Slot slot) {
    if (slot == nullptr) return;
    auto* watched = static_cast<Watched*>(slot);
    watched->watcher = nullptr;
    retired_.emplace_back(watched);
}

void Loop::hand_over(Slot slot, Watcher& watcher, int which) {
    auto* watched = static_cast<Watched*>(slot);
    watched->watcher = &watcher;
    watched->which = which;
}

Loop::TimerId Loop::after(milliseconds delay, std::function<void()> act) {
    TimerId id = ++last_timer_;
    Clock::time_point due = Clock::now() + delay;
    timers_.emplace(std::pair(due, id), std::move(act));
    due_.emplace(id, due);
    return id;
}

void Loop::cancel(TimerId& timer) {
    auto found = due_.find(std::exchange(timer, 0));
    if (found == due_.end()) return;
    timers_.erase({found->second, found->first});
    due_.erase(found);
}

void Loop::run() {
    while (!is_stopped_) turn(milliseconds(-1));
}

int Loop::wait_time(milliseconds longest) const {
    if (!deferred_.empty()) return 0;
    if (timers_.empty()) return static_cast<int>(longest.count());
    auto until = std::chrono::ceil<milliseconds>(timers_.begin()->first.first - Clock::now());
    until = std::max(until, milliseconds(0));
    return static_cast<int>((longest.count() < 0 ? until : std::min(until, longest)).count());
}

void Loop::turn(milliseconds longest) {
    struct epoll_event events[256];
    int ready = ::epoll_wait(epoll_.get(), events, 256, wait_time(longest));
    for (int i = 0; i < ready; ++i) {
        auto* watched = static_cast<Watched*>(events[i].data.ptr);
        if (watched->watcher != nullptr) watched->watcher->on_ready(events[i].events, watched->which);
    }
    run_timers();
    run_deferred();
    // The destructor of one object may bury another.
    while (!buried_.empty()) std::vector<std::shared_ptr<void>>(std::exchange(buried_, {})).clear();
    retired_.clear();
}

void Loop::run_timers() {
    Clock::time_point now = Clock::now();
    while (!timers_.empty() && timers_.begin()->first.first <= now) {
        auto first = timers_.extract(timers_.begin());
        due_.erase(first.key().second);
        first.mapped()();
    }
}

void Loop::run_deferred() {
    // Calls that are deferred here run in the next turn.
    std::vector<std::function<void()>> acts = std::exchange(deferred_, {});
    for (auto& act : acts) act();
}

}  // namespace network::gateway
