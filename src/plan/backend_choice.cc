// SPDX-License-Identifier: MIT
// Which backend builds the jail. If the user asked for one that does not work here, the launch fails: it
// never falls back to another. With "auto" it is the best that works on this machine, and a note reports a
// weaker one. Native comes before bubblewrap because it builds the same jail in half the time, and needs no
// other program.
#include "base/format.h"
#include "base/inside/paths_inside.h"
#include "base/text.h"
#include "plan/backend.h"
#include "plan/draft.h"

namespace plan {
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
        bool is_second = !text_.empty() && (is_lesser(backend) || is_told || obstacle == text_);
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
