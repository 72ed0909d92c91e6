// SPDX-License-Identifier: MIT
// Threat: if another user can replace bwrap or firejail, that user's program runs with the caller's rights
// and builds the jail. So PATH is never searched, and a candidate counts only if no user but root could have
// put it there (tests/host/programs_test.cc).
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include "base/text.h"
#include "host/facts.h"

namespace host {
namespace {

struct KnownProgram {
    std::string_view name;   // of the program
    std::string_view title;  // of its project, for messages
    std::string_view package;
    std::array<std::string_view, 3> places;
    bool must_be_setuid;

    std::string install() const {
        std::string package_name(package);
        return base::format("install {}: apt install {} / dnf install {}", package_name, package_name,
                            package_name);
    }
};

constexpr KnownProgram kBwrap = {"bwrap",
                                 "bubblewrap (bwrap)",
                                 "bubblewrap",
                                 {"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"},
                                 false};
constexpr KnownProgram kFirejail = {"firejail",
                                    "firejail",
                                    "firejail",
                                    {"/usr/bin/firejail", "/bin/firejail", "/usr/local/bin/firejail"},
                                    true};
constexpr uint32_t kUnmappedOwner = 65534;

TrustedProgram rejected(ProgramState state, const base::Path& path, const std::string& problem) {
    return TrustedProgram{.state = state, .path = path, .problem = problem};
}

std::string owner_problem(const KnownProgram& known, const base::Path& path, uint32_t owner) {
    std::string text =
        base::format("{} is owned by uid {}: only a root-owned {} is run", path.str(), owner, known.name);
    if (owner == kUnmappedOwner)
        return text + "; inside another user namespace root can't be told from others";
    return base::format("{}; {}", text, known.install());
}

// Why a user other than `trusted_owner` could change the file at this physical path; empty where only that
// owner could.
std::string find_untrusted(const Tree& tree, const KnownProgram& known, const base::Path& program,
                           uint32_t trusted_owner) {
    const std::string name(known.name);
    for (base::Path path = program;; path = path.parent()) {
        std::optional<Node> node = tree.look(path);
        if (!node) return base::format("{} can't be examined: only a root-owned {} is run", path.str(), name);
        if (node->owner != trusted_owner) return owner_problem(known, path, node->owner);
        if ((node->mode & 0022) != 0) {
            return base::format(
                "{} is writable by others than root: such a {} is not run; "
                "ask the administrator to run: chmod go-w {}",
                path.str(), name, path.str());
        }
        if (path.is_root()) return {};
    }
}

TrustedProgram examine(const Tree& tree, const KnownProgram& known, const base::Path& place,
                       uint32_t trusted_owner) {
    base::Result<Tree::Resolved> resolved = tree.resolve(place);
    std::optional<Node> node = resolved && resolved->exists ? tree.look(resolved->path) : std::nullopt;
    if (!node) {
        return rejected(ProgramState::missing, place,
                        base::format("{} does not exist; {}", place.str(), known.install()));
    }
    const base::Path& path = resolved->path;
    if (node->kind != Kind::file) {
        return rejected(ProgramState::not_executable, path,
                        base::format("{} is not a program; {}", path.str(), known.install()));
    }
    if (std::string problem = find_untrusted(tree, known, path, trusted_owner); !problem.empty()) {
        return rejected(ProgramState::untrusted, path, problem);
    }
    if ((node->mode & 0111) == 0) {
        return rejected(ProgramState::not_executable, path,
                        base::format("{} is not executable; {}", path.str(), known.install()));
    }
    bool is_setuid = (node->mode & 04000) != 0;
    if (known.must_be_setuid && !is_setuid) {
        return rejected(ProgramState::not_executable, path,
                        path.str() +
                            " is not set-user-ID root, without which it can do nothing; ask the "
                            "administrator to install it as its package does");
    }
    return TrustedProgram{.state = ProgramState::usable, .path = path, .is_setuid = is_setuid};
}

TrustedProgram find(const Tree& tree, const KnownProgram& known, const std::optional<base::Path>& pinned,
                    uint32_t trusted_owner) {
    if (pinned) return examine(tree, known, *pinned, trusted_owner);
    TrustedProgram best{.problem = base::format("{} is not installed; {}", known.title, known.install())};
    for (std::string_view place : known.places) {
        TrustedProgram found = examine(tree, known, base::Path::known(place), trusted_owner);
        if (found.state == ProgramState::usable) return found;
        if (best.state == ProgramState::missing && found.state != ProgramState::missing) best = found;
    }
    return best;
}

}  // namespace

TrustedProgram find_bwrap(const Tree& tree, const std::optional<base::Path>& pinned, uint32_t trusted_owner) {
    return find(tree, kBwrap, pinned, trusted_owner);
}

TrustedProgram find_bwrap(const std::optional<base::Path>& pinned) {
    return find_bwrap(DiskTree(), pinned);
}

TrustedProgram find_firejail(const Tree& tree, const std::optional<base::Path>& pinned,
                             uint32_t trusted_owner) {
    return find(tree, kFirejail, pinned, trusted_owner);
}

std::string_view to_text(ProgramState state) {
    switch (state) {
        case ProgramState::usable:
            return "usable";
        case ProgramState::missing:
            return "missing";
        case ProgramState::untrusted:
            return "untrusted";
        case ProgramState::not_executable:
            return "not-executable";
    }
    return "";
}

// Whether this program may build a jail by itself, as far as files and harmless calls show. Every launch runs
// this, so it makes only a few system calls; trial.cc finds the rest. It never checks the kernel's version:
// distributions backport calls, and filters block them.

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
