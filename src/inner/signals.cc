// SPDX-License-Identifier: MIT
#include "inner/signals.h"

namespace inner {
namespace {

constexpr int kLastSignal = 64;

uint64_t bit(int signal) {
    return uint64_t{1} << (signal - 1);
}

}  // namespace

sigset_t signal_set(uint64_t bits) {
    sigset_t set;
    sigemptyset(&set);
    for (int signal = 1; signal <= kLastSignal; ++signal) {
        if (bits & bit(signal)) sigaddset(&set, signal);
    }
    return set;
}

uint64_t signal_bits(std::span<const int> signals) {
    uint64_t bits = 0;
    for (int signal : signals) bits |= bit(signal);
    return bits;
}

SignalState current_signals() {
    SignalState state;
    sigset_t blocked;
    sigemptyset(&blocked);
    sigprocmask(SIG_SETMASK, nullptr, &blocked);
    for (int signal = 1; signal <= kLastSignal; ++signal) {
        struct sigaction action;
        // glibc keeps two real-time signals for itself and refuses to speak of them.
        if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
            state.ignored |= bit(signal);
        if (sigismember(&blocked, signal) == 1) state.blocked |= bit(signal);
    }
    return state;
}

void apply_signals(const SignalState& state) {
    for (int signal = 1; signal <= kLastSignal; ++signal) {
        struct sigaction action = {};
        action.sa_handler = state.ignored & bit(signal) ? SIG_IGN : SIG_DFL;
        sigaction(signal, &action, nullptr);
    }
    sigset_t blocked = signal_set(state.blocked);
    sigprocmask(SIG_SETMASK, &blocked, nullptr);
}

}  // namespace inner
