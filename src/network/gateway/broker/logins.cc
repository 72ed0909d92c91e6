// SPDX-License-Identifier: MIT
#include "network/gateway/broker/logins.h"

#include <algorithm>
#include <utility>

namespace network::gateway {

void Logins::await_turn(size_t binding, std::weak_ptr<char> alive, OnTurn on_turn) {
    if (running_.insert(binding).second) return on_turn(std::make_unique<Refresh>(*this, binding));
    waiters_.push_back({binding, std::move(alive), std::move(on_turn)});
}

void Logins::end(size_t binding, bool has_tokens) {
    running_.erase(binding);
    if (release_) release_(binding, has_tokens);
    for (;;) {
        auto next = std::ranges::find(waiters_, binding, &Waiter::binding);
        if (next == waiters_.end()) return;
        Waiter waiter = std::move(*next);
        waiters_.erase(next);
        if (waiter.alive.expired()) continue;
        return await_turn(binding, std::move(waiter.alive), std::move(waiter.on_turn));
    }
}

}  // namespace network::gateway
