// SPDX-License-Identifier: MIT
#include "base/process/event_loop.h"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/process/own_process.h"

namespace base {

using std::chrono::milliseconds;

namespace {

// Of two times to wait, of which a negative one has no end.
int shorter(int one, int other) {
    return one < 0 || other < 0 ? std::max(one, other) : std::min(one, other);
}

// poll(2) that calls rest() once after kShortBreak without an event and then sets `has_rested`. `timeout` as
// in poll(2).
int poll_and_rest(struct pollfd* watched, nfds_t count, int timeout, bool& has_rested) {
    auto pause = static_cast<int>(kShortBreak.count());
    bool waits_longer = timeout < 0 || timeout > pause;
    if (has_rested || !waits_longer) return ::poll(watched, count, timeout);
    int ready = ::poll(watched, count, pause);
    if (ready != 0) return ready;
    rest();
    has_rested = true;
    return timeout < 0 ? ::poll(watched, count, timeout) : ::poll(watched, count, timeout - pause);
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

EventLoop::SourceId EventLoop::add(Source source) {
    sources_.push_back({.id = ++last_source_, .source = std::move(source)});
    return last_source_;
}

EventLoop::SourceId EventLoop::add(Stream stream) {
    sources_.push_back({.id = ++last_source_, .stream = std::move(stream)});
    return last_source_;
}

void EventLoop::remove(SourceId source) {
    auto found = std::ranges::find(sources_, source, &Entry::id);
    if (found == sources_.end()) return;
    // It may be the one that is served now.
    found->is_removed = true;
    has_removed_ = true;
}

Status EventLoop::open() {
    epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
    if (!epoll_) return system_error("make an event loop", errno);
    return success();
}

EventLoop::Slot EventLoop::watch(int fd, uint32_t events, Watcher& watcher, int which) {
    auto watched = std::make_unique<Watched>(Watched{&watcher, which});
    struct epoll_event event = {};
    event.events = events;
    event.data.ptr = watched.get();
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return nullptr;
    return watched.release();
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
    if (slot == nullptr) return;
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
    for (const Entry& entry : sources_) {
        // Removed since the last turn, for example by a timer. Its functions may not be called any more.
        if (entry.is_removed) {
            polled_.push_back({-1, 0, 0});
            continue;
        }
        if (entry.stream.awaited) {
            polled_.push_back(entry.stream.awaited());
            continue;
        }
        polled_.push_back({entry.source.descriptor(), POLLIN, 0});
        if (entry.source.patience) timeout = shorter(timeout, entry.source.patience());
    }
    for (const Check& check : checks_) timeout = shorter(timeout, check.patience());
    int ready = poll_and_rest(polled_.data(), polled_.size(), timeout, has_rested_);
    for (const Check& check : checks_) check.act();
    for (size_t i = 0; ready > 0 && i < polled_.size() && !is_stopped_; ++i) {
        Entry& entry = sources_[i];
        if (polled_[i].revents == 0 || entry.is_removed) continue;
        if (entry.stream.serve) {
            entry.stream.serve(polled_[i].revents);
        } else {
            entry.source.serve();
        }
    }
    if (std::exchange(has_removed_, false)) std::erase_if(sources_, &Entry::is_removed);
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
    if (timers_.empty()) return;
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
