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

// Of the stage: an ignored SIGCHLD would reap behind its back, and it reads what it waits for.
inline constexpr SignalState kStageSignals{.blocked = ~uint64_t{0}};

SignalState current_signals();

// Gives every signal its default or ignored disposition, then the mask. Only what differs is touched: a
// launch comes through here several times, and there are 64 signals.
void apply_signals(const SignalState& wanted);
// The same where the present state is known and no handler is installed: nothing is asked first.
void apply_signals(const SignalState& wanted, const SignalState& present);

// The mask alone. To a process that waits for no signal, one that is blocked is as good as ignored.
void block_only(uint64_t signals);

// What `signals` would be as a mask.
uint64_t signal_bits(std::span<const int> signals);
sigset_t signal_set(uint64_t bits);

}  // namespace inner
