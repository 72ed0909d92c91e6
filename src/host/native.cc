// SPDX-License-Identifier: MIT
// Whether this program may build a jail by itself, as far as files and harmless calls show. Every launch runs
// this, so it makes only a few system calls; trial.cc finds the rest. It never checks the kernel's version:
// distributions backport calls, and filters block them.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/format.h"
#include "base/text.h"
#include "host/facts.h"

namespace host {
namespace {

constexpr size_t kLongestLabel = 4096;

// Calls that have no replacement, with arguments that every kernel refuses before it does anything.
struct Needed {
    std::string_view name;
    long (*refusal)();
    // The kernel itself may return EPERM, so only ENOSYS proves that the call is missing.
    bool asks_for_rights;
};

constexpr Needed kNeeded[] = {
    {"open_tree", [] { return ::syscall(SYS_open_tree, -1, "", ~0u); }, false},
    {"move_mount", [] { return ::syscall(SYS_move_mount, -1, "", -1, "", ~0u); }, true},
    {"clone3", [] { return ::syscall(SYS_clone3, nullptr, 0); }, false},
    {"pidfd_open", [] { return ::syscall(SYS_pidfd_open, -1, 0); }, false},
};

bool is_missing(const Needed& call) {
    if (call.refusal() >= 0) return false;
    return errno == ENOSYS || (errno == EPERM && !call.asks_for_rights);
}

// Reads the AppArmor profile of this process: the name of a file in /etc/apparmor.d alone does not decide
// which profile attaches.
bool is_unconfined(const Tree& tree) {
    base::Result<std::string> label =
        tree.read(base::Path::known("/proc/self/attr/apparmor/current"), kLongestLabel);
    return !label || base::trim(std::string_view(*label).substr(0, label->find('\0'))) == "unconfined";
}

}  // namespace

void probe_own_namespaces(const Tree& tree, Facts& facts) {
    constexpr std::string_view kCant = "agent-sandbox itself can't make user namespaces: ";
    if (facts.native_obstacle) return;
    bool is_closed = facts.namespace_obstacle != NamespaceObstacle::none &&
                     facts.namespace_obstacle != NamespaceObstacle::apparmor;
    if (is_closed) {
        facts.native_obstacle =
            base::format("{}{}; 'agent-sandbox doctor --admin-note' says what an administrator can do", kCant,
                         *facts.user_namespace_obstacle);
    } else if (facts.apparmor_restricts_user_namespaces && is_unconfined(tree)) {
        facts.native_obstacle =
            std::string(kCant) +
            "kernel.apparmor_restrict_unprivileged_userns is 1 and no AppArmor profile for agent-sandbox is "
            "loaded; 'agent-sandbox doctor --admin-note' has one";
    }
}

void probe_calls(Facts& facts) {
    if (facts.native_obstacle) return;
    const auto* missing = std::ranges::find_if(kNeeded, is_missing);
    if (missing == std::end(kNeeded)) return;
    facts.native_obstacle = base::format(
        "kernel {} has no {}, or a filter around this process refuses it; "
        "install bubblewrap, which does without",
        facts.kernel, missing->name);
}

}  // namespace host
