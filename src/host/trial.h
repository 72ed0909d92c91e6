// SPDX-License-Identifier: MIT
// Facts that can only be found by trying. For doctor, and for a launch that failed: a successful launch never
// runs these.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/backend.h"
#include "base/result.h"
#include "host/facts.h"

namespace host {

struct BwrapVersion {
    int major = 0;
    int minor = 0;
    int patch = 0;
    std::string text() const;
    auto operator<=>(const BwrapVersion&) const = default;
};

// The oldest version with every option that the backend uses.
inline constexpr BwrapVersion kOldestBwrap{.major = 0, .minor = 4, .patch = 0};
// CVE-2026-87766 (GHSA-pxhw-h44j-8pfx): older ones follow a symbolic link above a mount point to the host.
inline constexpr BwrapVersion kBwrapWithoutLinks{.major = 0, .minor = 12, .patch = 0};

// "bubblewrap 0.8.0"
base::Result<BwrapVersion> parse_bwrap_version(std::string_view output);

// Runs `bwrap --version` with an empty environment; only for a bwrap that is usable.
base::Result<BwrapVersion> probe_bwrap_version(const TrustedProgram& bwrap);

// Creates a user namespace with a mount namespace of its own in a short-lived child. Nothing on success, else
// the reason.
std::optional<std::string> try_user_namespace();

// Takes the steps by which this program builds a jail, as far as they need no plan, in a short-lived child.
// Nothing on success, else Facts::native_obstacle.
std::optional<std::string> try_native();

// Has firejail run this program in a jail with the namespaces of a launch. Nothing on success, else
// the problem of Facts::firejail. Only for a firejail that is usable; it takes a tenth of a second.
std::optional<std::string> try_firejail(const Facts& facts);

// Makes a failure of the trial a fact: this firejail is not taken.
void take_firejail_failure(const std::string& reason, Facts& facts);

// A filter of system calls is around this process, as in a hardened service or a container. Set-user-ID
// programs keep it, so firejail may fail where files show no obstacle.
bool is_filtered();

// A backend that another one can replace after a failed launch. The trial shows whether this machine can't
// run it, and its result becomes a fact. An obstacle that files show stays: it names a remedy.
struct BackendTrial {
    base::Backend backend;
    std::optional<std::string> (*failure)(const Facts& facts);
    void (*take)(const std::string& reason, Facts& facts);
};
std::span<const BackendTrial> backend_trials();

}  // namespace host
