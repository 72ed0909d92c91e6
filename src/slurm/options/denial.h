// SPDX-License-Identifier: MIT
// The message to the agent when a Slurm call is refused or fails: one line on standard error, with a code
// whose meaning never changes. There are two classes, and the line names the class. Policy: a retry or a
// workaround is wrong. Fault: the call was fine, but a part of the sandbox failed.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace slurm {

struct Denial {
    std::string code;    // of denial_codes()
    std::string what;    // "--uid: jobs run as yourself"
    std::string advice;  // an alternative; may be empty
};

// "sbatch: refused [slurm-identity]: --uid: jobs run as yourself; this is policy, not a fault: …". The
// agent's bytes in it are made printable. It does not end with a line break.
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
inline constexpr std::string_view credential = "slurm-credential";
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
