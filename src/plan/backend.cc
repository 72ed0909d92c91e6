// SPDX-License-Identifier: MIT
#include "plan/backend.h"

#include <algorithm>

#include "base/inside/jail_files.h"
#include "base/text.h"
#include "host/remedies.h"
#include "landlock/wall.h"
#include "plan/draft.h"

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

// Which backend builds the jail. If the user asked for one that does not work here, the launch fails: it
// never falls back to another. With "auto" it is the best that works on this machine, and a note reports a
// weaker one. Native comes before bubblewrap because it builds the same jail in half the time, and needs no
// other program.

namespace {

constexpr std::string_view kChooseAnother = "'agent-sandbox doctor' says what this machine can do";

base::Error none_works(const host::Facts& facts) {
    std::vector<std::string> causes;
    for (const BackendTraits& backend : backends()) {
        if (auto obstacle = obstacle_of(backend, facts))
            causes.push_back(base::format("{}: {}", backend.name(), without_remedy(*obstacle)));
    }
    return base::Error{
        .what = base::format("no backend can build a jail here ({})", base::join(causes, "; ")),
        .advice = std::string(kChooseAnother)};
}

base::Status take(Draft& draft, const BackendTraits& backend) {
    draft.plan.backend = backend.id;
    const std::string& around = draft.inputs.facts.nested_in;
    if (!around.empty()) {
        draft.note(NoteKind::information,
                   base::format("this runs inside {}: the jail can show no more than that does",
                                around == "container" ? "a container" : "another jail of agent-sandbox"));
    }
    const std::string& session = draft.inputs.request.session;
    // Where a backend can't mount, the sandbox's own files are in a directory of the session.
    draft.own = base::Path::known(base::kOwnDirectory);
    if (backend.lays_files) return base::success();
    std::string name = std::string(base::kPlacePrefix) +
                       (session.empty() ? "session" : session.substr(0, base::kPlaceDigits));
    draft.own = base::Path::known(base::kPlaceParent) / name;
    draft.plan.private_directory.path = draft.own;
    return base::success();
}

// The order in which they are tried. A bubblewrap that isolation.bwrap names comes first.
std::vector<const BackendTraits*> candidates(bool is_bwrap_pinned) {
    std::vector<const BackendTraits*> all;
    if (is_bwrap_pinned) all.push_back(&traits_of(Backend::bwrap));
    for (const BackendTraits& backend : backends()) {
        if (all.empty() || all.front() != &backend) all.push_back(&backend);
    }
    return all;
}

// Why the backends before the chosen one do not work: of the best ones, each cause once.
class PassedOver {
  public:
    void add(const BackendTraits& backend, const std::string& obstacle, const host::Facts& facts) {
        bool is_told = facts.user_namespace_obstacle &&
                       text_.find(*facts.user_namespace_obstacle) != std::string::npos &&
                       obstacle.find(*facts.user_namespace_obstacle) != std::string::npos;
        // That firejail is not installed explains nothing; that an installed one fails does.
        bool is_failure =
            backend.id == Backend::firejail && facts.firejail.state == host::ProgramState::not_executable;
        bool is_second =
            !text_.empty() && ((is_lesser(backend) && !is_failure) || is_told || obstacle == text_);
        if (!is_second) text_ += (text_.empty() ? "" : ", and ") + obstacle;
    }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

// bubblewrap builds the same jail: the note is information only, unless the user named a bwrap program that
// is not used.
void tell_of_fall(Draft& draft, const std::string& passed_over, const BackendTraits& taken) {
    std::string text = base::format("{}: {} builds the jail instead", passed_over, taken.title);
    if (is_lesser(taken)) text += ", which is weaker ('agent-sandbox doctor' says where)";
    bool is_silent = !is_lesser(taken) && !draft.policy().isolation.bwrap;
    draft.note(is_silent ? NoteKind::information : NoteKind::protection, text);
}

}  // namespace

base::Status choose_backend(Draft& draft) {
    const auto& isolation = draft.policy().isolation;
    const host::Facts& facts = draft.inputs.facts;
    if (isolation.backend) {
        const BackendTraits& forced = traits_of(*isolation.backend);
        std::optional<std::string> obstacle = obstacle_of(forced, facts);
        if (!obstacle) return take(draft, forced);
        return base::Error{
            .what = *obstacle,
            .advice = base::format("isolation.backend asks for {} and no other is taken in its place; {}",
                                   forced.name(), kChooseAnother),
            .where = isolation.backend_origin.describe()};
    }
    // If the user named a bwrap program, do not replace it silently by another backend.
    bool is_pinned = isolation.bwrap && facts.bwrap.state != host::ProgramState::usable;
    if (is_pinned) return base::Error{.what = facts.bwrap.problem, .advice = std::string(kChooseAnother)};
    PassedOver passed_over;
    for (const BackendTraits* backend : candidates(isolation.bwrap.has_value())) {
        std::optional<std::string> obstacle = obstacle_of(*backend, facts);
        if (obstacle) {
            passed_over.add(*backend, without_remedy(*obstacle), facts);
            continue;
        }
        if (!passed_over.text().empty()) tell_of_fall(draft, passed_over.text(), *backend);
        return take(draft, *backend);
    }
    // Report every backend only where facts about the others were collected.
    bool knows_others = !facts.firejail.problem.empty() || facts.landlock_abi > 0;
    if (!knows_others && facts.bwrap.state != host::ProgramState::usable)
        return base::Error{.what = facts.bwrap.problem, .advice = std::string(kChooseAnother)};
    return none_works(facts);
}

}  // namespace plan
