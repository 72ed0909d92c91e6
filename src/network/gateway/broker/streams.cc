// SPDX-License-Identifier: MIT
#include "network/gateway/broker/streams.h"

#include <algorithm>
#include <utility>

namespace network::gateway {

void Streams::run() {
    for (Slot& slot : slots_) {
        if (slot.stream != 0 && session_.is_gone(slot.stream)) slot.server->lose_stream();
    }
    std::erase_if(slots_, [this](Slot& slot) { return tidy(slot); });
    while (int32_t stream = session_.next_request()) hand_out(stream);
    for (Slot& slot : slots_) {
        if (slot.stream != 0) slot.server->run();
        if (!address_) address_ = slot.server->address();
    }
    std::erase_if(slots_, [this](Slot& slot) { return tidy(slot); });
}

void Streams::hand_out(int32_t stream) {
    auto waits = [](const Slot& slot) { return slot.stream == 0 && slot.server->is_idle(); };
    auto slot = std::ranges::find_if(slots_, waits);
    if (slot == slots_.end()) {
        std::unique_ptr<Interception> made = make_(session_);
        if (!made) {
            session_.reset(stream, true);
            session_.drop(stream);
            return;
        }
        slots_.push_back({std::move(made), 0});
        slot = std::prev(slots_.end());
    }
    slot->stream = stream;
    slot->server->take_stream(stream);
}

// True: its Interception has finished.
bool Streams::tidy(Slot& slot) {
    const bool is_finished = slot.server->is_finished();
    if (slot.stream != 0 && (is_finished || slot.server->is_idle())) {
        // Nothing happens if the answer is complete.
        session_.end_answer(slot.stream);
        session_.drop(std::exchange(slot.stream, 0));
        if (!is_finished) slot.server->take_stream(0);
    }
    if (!is_finished) return false;
    add(past_, *slot.server);
    loop_.bury(std::move(slot.server));
    return true;
}

// A call may end others, which stay until the end of the turn.
std::vector<Interception*> Streams::all() const {
    std::vector<Interception*> servers;
    servers.reserve(slots_.size());
    for (const Slot& slot : slots_) servers.push_back(slot.server.get());
    return servers;
}

void Streams::end() {
    for (Interception* one : all()) one->lose_stream();
}

bool Streams::sweep(Clock::time_point now) {
    session_.sweep();
    for (Interception* one : all()) one->sweep(now);
    // A burst of requests leaves as many connections to the server.
    size_t waiting = 0;
    std::vector<Interception*> surplus;
    for (Slot& slot : slots_) {
        const bool is_waiting = slot.stream == 0 && slot.server->is_idle();
        if (is_waiting && ++waiting > kMostWaiting) surplus.push_back(slot.server.get());
    }
    for (Interception* one : surplus) one->retire();
    return std::ranges::any_of(slots_, [](const Slot& slot) { return slot.stream != 0; });
}

void Streams::judge_again() {
    for (Interception* one : all()) (void)one->judge_again();
}

void Streams::add(Counts& counts, const Interception& one) {
    counts.sent += one.sent();
    counts.received += one.received();
    counts.unrecorded += one.unrecorded();
}

Streams::Counts Streams::counts() const {
    Counts counts = past_;
    for (const Slot& slot : slots_) add(counts, *slot.server);
    return counts;
}

}  // namespace network::gateway
