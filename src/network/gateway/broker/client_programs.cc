// SPDX-License-Identifier: MIT
#include "network/gateway/broker/client_programs.h"

#include <algorithm>
#include <utility>

namespace network::gateway {
namespace {

// A program's name can't contain this.
std::string key_of(const std::string& host, const std::string& program) {
    return host + '\n' + program.substr(0, program.find(" (process "));
}

}  // namespace

bool ClientPrograms::take_room() {
    const Clock::time_point now = Clock::now();
    room_ = std::min(kBurst, room_ + kPerSecond * std::chrono::duration<double>(now - filled_).count());
    filled_ = now;
    if (room_ < 1) return false;
    room_ -= 1;
    return true;
}

void ClientPrograms::find(uint16_t port, std::weak_ptr<char> alive, OnProgram on_program) {
    if (!ask_ || port == 0 || !take_room()) return on_program({});
    const uint64_t ticket = ++last_ticket_;
    waiters_[ticket] = {std::move(alive), std::move(on_program)};
    // At most kBurst are new; the others are of connections that have ended.
    std::erase_if(waiters_, [](const auto& row) { return row.second.alive.expired(); });
    ask_(ticket, port);
}

void ClientPrograms::take(uint64_t ticket, const std::string& program) {
    auto found = waiters_.find(ticket);
    if (found == waiters_.end()) return;
    Waiter waiter = std::move(found->second);
    waiters_.erase(found);
    if (!waiter.alive.expired()) waiter.on_program(program);
}

void ClientPrograms::note_trust(const std::string& host, const std::string& program) {
    if (trusting_.size() < kMostTrusting) trusting_.insert(key_of(host, program));
}

bool ClientPrograms::has_trusted(const std::string& host, const std::string& program) const {
    return trusting_.contains(key_of(host, program));
}

}  // namespace network::gateway
