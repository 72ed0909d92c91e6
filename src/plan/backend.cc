// SPDX-License-Identifier: MIT
#include "plan/backend.h"

#include <algorithm>

#include "base/format.h"
#include "host/remedies.h"
#include "landlock/rights.h"

namespace plan {
namespace {

using policy::Level;
using policy::NetworkMode;

constexpr BackendTraits kBackends[] = {
    {Backend::native, "agent-sandbox itself", true, true, true, true, false},
    {Backend::bwrap, "bubblewrap", true, true, false, true, false},
    {Backend::firejail, "firejail", true, false, false, true, true},
    {Backend::landlock, "Landlock alone", false, false, false, false, true},
};

// traits_of() finds a row by its position.
static_assert(std::ranges::equal(kBackends, base::kBackends, {}, &BackendTraits::id));

constexpr ControlRow kControls[] = {
    {"files", Level::hidden, true, "what no rule shows does not exist"},
    {"credentials", Level::hidden, true, "they do not exist"},
    {"other users", Level::hidden, false, "accounts and home directories"},
    {"temporary files", Level::hidden, false, "/tmp and /var/tmp"},
    {"shared memory", Level::hidden, false, "/dev/shm, System V and POSIX queues"},
    {"processes", Level::hidden, true, "processes outside can't be seen, signalled or traced"},
    {"privileges", Level::denied, true, "no capability, no gain through setuid programs"},
    {"system calls", Level::denied, true, "calls that reach around the jail or deep into the kernel"},
    {"second wall", Level::denied, false, "writes, signals and abstract sockets once more by Landlock"},
    {"environment", Level::hidden, true, "secrets are taken out before anything runs"},
    {"network", Level::denied, true, "by name, address and port, for every program"},
    {"mail", Level::denied, false, "the ports are closed, and mailers say so"},
    {"slurm", Level::hidden, true, "the chaperon alone speaks to it"},
    {"protected paths", Level::denied, false, "hooks and settings in the project can't be changed"},
    {"masked files", Level::denied, false, "secrets of the project can't be read"},
};

constexpr Reach kLesser[] = {
    {"files", Backend::landlock, Level::denied,
     "names can be seen; content can't be read, nothing can be changed"},
    {"credentials", Backend::landlock, Level::denied, "names can be seen, content is not"},
    {"other users", Backend::landlock, Level::absent,
     "/etc/passwd lists the accounts; home directories are closed"},
    {"temporary files", Backend::landlock, Level::denied,
     "/tmp is closed; TMPDIR is a directory of the session's"},
    {"shared memory", Backend::landlock, Level::denied, "/dev/shm is closed, System V objects are refused"},
    {"processes", Backend::landlock, Level::denied,
     "processes outside are listed with their command lines; they can't be signalled, traced or read"},
    {"protected paths", Backend::landlock, Level::absent,
     "a rule can't take back what the project's own rule gives: hooks and settings in the project can be "
     "changed; the review at the end lists them"},
    {"masked files", Backend::landlock, Level::absent,
     "a rule can't take back what the project's own rule gives: .env and the like can be read"},
    {"second wall", Backend::landlock, Level::absent,
     "Landlock is the first wall here, and there is no other"},
    {"slurm", Backend::firejail, Level::denied,
     "stubs in PATH; the real commands are there and can't be run"},
    {"slurm", Backend::landlock, Level::denied,
     "stubs in PATH; the real commands reach neither munge nor their configuration"},
    {"mail", Backend::firejail, Level::denied, "the ports are closed; stubs in PATH say so"},
    {"mail", Backend::landlock, Level::denied, "the ports are closed; stubs in PATH say so"},
    {"network", Backend::landlock, Level::denied,
     "sockets are judged one by one; there is no network of its own"},
};

std::optional<std::string> bwrap_obstacle(const host::Facts& facts) {
    if (facts.bwrap.state != host::ProgramState::usable) return facts.bwrap.problem;
    if (facts.bwrap.is_setuid || !facts.user_namespace_obstacle) return std::nullopt;
    return "bubblewrap can't make user namespaces: " + *facts.user_namespace_obstacle;
}

std::optional<std::string> firejail_obstacle(const host::Facts& facts) {
    if (facts.firejail.state == host::ProgramState::usable) return std::nullopt;
    return facts.firejail.problem.empty() ? "firejail is not installed" : facts.firejail.problem;
}

std::optional<std::string> landlock_obstacle(const host::Facts& facts) {
    if (facts.landlock_abi > 0) return std::nullopt;
    return base::format("kernel {} has no Landlock, or was started without it", facts.kernel);
}

}  // namespace

std::span<const BackendTraits> backends() {
    return kBackends;
}

const BackendTraits& traits_of(Backend backend) {
    return kBackends[static_cast<size_t>(backend)];
}

std::optional<std::string> obstacle_of(const BackendTraits& backend, const host::Facts& facts) {
    if (!facts.has_seccomp) return base::format("kernel {} is built without seccomp filters", facts.kernel);
    switch (backend.id) {
        case Backend::native:
            return facts.native_obstacle;
        case Backend::bwrap:
            return bwrap_obstacle(facts);
        case Backend::firejail:
            return firejail_obstacle(facts);
        case Backend::landlock:
            return landlock_obstacle(facts);
    }
    return facts.native_obstacle;
}

std::string without_remedy(std::string_view problem) {
    return std::string(problem.substr(0, problem.find("; ")));
}

bool lets_signals_out(const BackendTraits& backend, const host::Facts& facts) {
    return !backend.has_namespaces && !facts.can_answer_calls &&
           landlock::guarded_scopes(facts.landlock_abi) == 0;
}

// With a gateway all four modes work. The native backend sets up its network namespace from inside. A
// bubblewrap's must be set up from outside, and root owns that of a set-uid bubblewrap. The other backends
// need the doorman.
std::vector<NetworkMode> offered_modes(const BackendTraits& backend, const host::Facts& facts) {
    bool is_closed = backend.hands_connections ? !facts.can_answer_calls
                                               : backend.id == Backend::bwrap && facts.bwrap.is_setuid;
    if (is_closed) return {NetworkMode::open, NetworkMode::isolated};
    return {NetworkMode::open, NetworkMode::filtered, NetworkMode::proxied, NetworkMode::isolated};
}

// In a jail that root made, the caller has no power over the user namespace.
std::optional<std::string> outside_answers_obstacle(const BackendTraits& backend, const host::Facts& facts) {
    constexpr int kMajor = 5, kMinor = 9;  // SECCOMP_IOCTL_NOTIF_ADDFD
    if (!host::is_kernel_at_least(facts.kernel, kMajor, kMinor))
        return base::format("kernel {} can't answer system calls from outside (Linux 5.9 can)", facts.kernel);
    if (backend.id == Backend::bwrap && facts.bwrap.is_setuid) return "bubblewrap is set-user-ID here";
    if (backend.hands_connections) return "the backend is " + std::string(backend.name());
    return std::nullopt;
}

std::optional<std::string> own_sockets_obstacle(const BackendTraits& backend, const host::Facts& facts) {
    if (auto obstacle = outside_answers_obstacle(backend, facts)) return obstacle;
    if (facts.native_obstacle) return without_remedy(*facts.native_obstacle);
    return std::nullopt;
}

std::span<const Reach> lesser_reaches() {
    return kLesser;
}

const Reach* lesser_reach(std::string_view control, Backend backend) {
    for (const Reach& reach : kLesser) {
        if (reach.control == control && reach.backend == backend) return &reach;
    }
    return nullptr;
}

std::span<const ControlRow> control_rows() {
    return kControls;
}

const ControlRow& control_row(std::string_view control) {
    const auto* found = std::ranges::find(kControls, control, &ControlRow::name);
    return found == std::end(kControls) ? kControls[0] : *found;
}

bool is_lesser(const BackendTraits& backend) {
    return std::ranges::any_of(kLesser, [&](const Reach& reach) { return reach.backend == backend.id; });
}

Level level_with(std::string_view control, Backend backend) {
    const Reach* reach = lesser_reach(control, backend);
    return reach == nullptr ? control_row(control).best : reach->level;
}

}  // namespace plan
