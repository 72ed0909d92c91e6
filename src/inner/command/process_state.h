// SPDX-License-Identifier: MIT
// What every process of the command inherits: ignored and blocked signals, and resource limits.
#pragma once

#include <csignal>
#include <cstdint>
#include <span>
#include <vector>

namespace inner {

// Which signals a process ignores and blocks, as data. The caller's state (for instance the SIGHUP that nohup
// ignores) must reach the command unchanged, although the launcher in between needs its own.

// Bit n-1 stands for signal n.
struct SignalState {
    uint64_t ignored = 0;
    uint64_t blocked = 0;

    bool operator==(const SignalState&) const = default;
};

// The stage's state: with an ignored SIGCHLD the kernel would reap its children, and it reads the signals
// that it waits for.
inline constexpr SignalState kStageSignals{.blocked = ~uint64_t{0}};

SignalState current_signals();

// Gives every signal its default or ignored disposition, then sets the mask. Changes only what differs: a
// launch calls this several times, and there are 64 signals.
void apply_signals(const SignalState& wanted);
// The same if the present state is known and no handler is installed: reads nothing first.
void apply_signals(const SignalState& wanted, const SignalState& present);

// Sets only the mask. For a process that waits for no signal, a blocked one is as good as ignored.
void block_only(uint64_t signals);

// `signals` as a mask.
uint64_t signal_bits(std::span<const int> signals);
sigset_t signal_set(uint64_t bits);

// Resource limits that the kernel enforces for each process of the command. They can't be raised again from
// inside.

struct ResourceLimit {
    int resource = 0;  // RLIMIT_…
    uint64_t value = 0;

    bool operator==(const ResourceLimit&) const = default;
};

// Lowers the limits of this process to these; one that is lower already stays. Zero, or errno.
int apply_limits(const std::vector<ResourceLimit>& limits);

}  // namespace inner
