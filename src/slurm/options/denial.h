// SPDX-License-Identifier: MIT
// What the agent is told when a Slurm call is not made: one line on standard error, with a code that never
// changes its meaning. There are two classes, and the line says which: policy, where trying again or another
// way is wrong, and a fault, where the call was fine and something of ours was not.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace slurm {

struct Denial {
    std::string code;    // of denial_codes()
    std::string what;    // "--uid: jobs run as yourself"
    std::string advice;  // what to do instead, where there is something; may be empty
};

// "sbatch: refused [slurm-identity]: --uid: jobs run as yourself; this is policy, not a fault: …". Bytes of
// the agent in it are made printable; it has no line break at its end.
std::string text_of(const Denial& denial, std::string_view command);

enum class DenialClass { policy, fault };

struct DenialCode {
    std::string_view code;
    DenialClass is;
    std::string_view meaning;
};

std::span<const DenialCode> denial_codes();

namespace code {

inline constexpr std::string_view identity = "slurm-identity";
inline constexpr std::string_view host_environment = "slurm-host-environment";
inline constexpr std::string_view outside_code = "slurm-outside-code";
inline constexpr std::string_view outside_file = "slurm-outside-file";
inline constexpr std::string_view multi_prog = "slurm-multi-prog";
inline constexpr std::string_view network = "slurm-network";
inline constexpr std::string_view mail = "slurm-mail";
inline constexpr std::string_view other_cluster = "slurm-other-cluster";
inline constexpr std::string_view heterogeneous = "slurm-heterogeneous";
inline constexpr std::string_view administration = "slurm-administration";
inline constexpr std::string_view other_users = "slurm-other-users";
inline constexpr std::string_view not_in_scope = "slurm-not-in-scope";
inline constexpr std::string_view command = "slurm-command";
inline constexpr std::string_view unknown_option = "slurm-unknown-option";
inline constexpr std::string_view value = "slurm-value";
inline constexpr std::string_view too_large = "slurm-too-large";
inline constexpr std::string_view busy = "slurm-busy";
inline constexpr std::string_view unavailable = "slurm-unavailable";

}  // namespace code

}  // namespace slurm
