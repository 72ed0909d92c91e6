// SPDX-License-Identifier: MIT
#include "inner/command/process_state.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/parse.h"

namespace inner {
namespace {

constexpr int kLastSignal = 64;
// glibc reserves two real-time signals, and its functions refuse them.
constexpr uint64_t kOfTheLibrary = uint64_t{3} << 31;

// As the kernel reports it.
struct Dispositions {
    SignalState state;
    uint64_t caught = 0;
};

uint64_t bit(int signal) {
    return uint64_t{1} << (signal - 1);
}

// A line of proc_pid_status(5): "SigIgn:", a tab, sixteen hexadecimal digits.
std::optional<uint64_t> mask_in(std::string_view status, std::string_view key) {
    size_t at = status.find(key);
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view digits = status.substr(at + key.size());
    return base::parse_number<uint64_t>(digits.substr(0, digits.find('\n')), 16);
}

// A few system calls instead of one for each signal.
std::optional<Dispositions> read_dispositions() {
    base::Result<std::string> status = base::read_file("/proc/self/status");
    if (!status) return std::nullopt;
    std::optional<uint64_t> blocked = mask_in(*status, "\nSigBlk:\t");
    std::optional<uint64_t> ignored = mask_in(*status, "\nSigIgn:\t");
    std::optional<uint64_t> caught = mask_in(*status, "\nSigCgt:\t");
    if (!blocked || !ignored || !caught) return std::nullopt;
    return Dispositions{{.ignored = *ignored & ~kOfTheLibrary, .blocked = *blocked}, *caught};
}

// If /proc is not available.
Dispositions ask_for_each() {
    Dispositions present;
    sigset_t blocked;
    sigemptyset(&blocked);
    sigprocmask(SIG_SETMASK, nullptr, &blocked);
    for (int signal = 1; signal <= kLastSignal; ++signal) {
        if (sigismember(&blocked, signal) == 1) present.state.blocked |= bit(signal);
        struct sigaction action;
        if (sigaction(signal, nullptr, &action) != 0) continue;
        if (action.sa_handler == SIG_IGN) {
            present.state.ignored |= bit(signal);
        } else if (action.sa_handler != SIG_DFL) {
            present.caught |= bit(signal);
        }
    }
    return present;
}

Dispositions present_dispositions() {
    std::optional<Dispositions> read = read_dispositions();
    return read ? *read : ask_for_each();
}

void set_dispositions(uint64_t ignored, uint64_t touched) {
    for (int signal = 1; signal <= kLastSignal; ++signal) {
        if ((touched & bit(signal)) == 0) continue;
        struct sigaction action = {};
        action.sa_handler = ignored & bit(signal) ? SIG_IGN : SIG_DFL;
        sigaction(signal, &action, nullptr);
    }
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
    return present_dispositions().state;
}

void apply_signals(const SignalState& wanted) {
    Dispositions present = present_dispositions();
    set_dispositions(wanted.ignored, (wanted.ignored ^ present.state.ignored) | present.caught);
    block_only(wanted.blocked);
}

void apply_signals(const SignalState& wanted, const SignalState& present) {
    set_dispositions(wanted.ignored, wanted.ignored ^ present.ignored);
    block_only(wanted.blocked);
}

void block_only(uint64_t signals) {
    sigset_t blocked = signal_set(signals);
    sigprocmask(SIG_SETMASK, &blocked, nullptr);
}

int apply_limits(const std::vector<ResourceLimit>& limits) {
    for (const ResourceLimit& wanted : limits) {
        auto resource = static_cast<__rlimit_resource_t>(wanted.resource);
        struct rlimit limit;
        if (::getrlimit(resource, &limit) != 0) return errno;
        limit.rlim_max = std::min<rlim_t>(limit.rlim_max, wanted.value);
        limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
        if (::setrlimit(resource, &limit) != 0) return errno;
    }
    return 0;
}

}  // namespace inner
