// SPDX-License-Identifier: MIT
// Which signals a process ignores and blocks, as data: the caller's (nohup's ignored SIGHUP, for instance)
// must reach the command untouched, although the launcher in between needs its own.
#pragma once

#include <csignal>
#include <cstdint>
#include <span>

namespace inner {

// Bit n-1 stands for signal n.
struct SignalState {
    uint64_t ignored = 0;
    uint64_t blocked = 0;

    bool operator==(const SignalState&) const = default;
};

SignalState current_signals();

// Gives every signal its default or ignored disposition, then the mask.
void apply_signals(const SignalState& state);

// What `signals` would be as a mask.
uint64_t signal_bits(std::span<const int> signals);
sigset_t signal_set(uint64_t bits);

}  // namespace inner
