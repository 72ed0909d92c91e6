// SPDX-License-Identifier: MIT
// Copy-on-write: the command sees the project at its own path, and what it writes there goes to a layer of
// changes. Protected names are not covered: nothing outside runs what is in a layer, and apply holds these
// names back. Masked and hidden paths are covered as usual. Nothing is made in the project itself.
#include <algorithm>

#include "base/text.h"
#include "plan/draft.h"

namespace plan {
namespace {

using policy::CowEngine;

base::Error refuse_layer(const Draft& draft, std::string what, std::string advice) {
    return base::Error{.what = std::move(what),
                       .advice = std::move(advice),
                       .where = draft.policy().cow.enabled_origin.describe()};
}

// The program promises that nothing is written outside the layer. The agent's own state, which its profile
// lists, stays.
bool is_own_grant(const config::Item& item) {
    return item.origin.layer == config::Layer::builtin || item.origin.layer == config::Layer::profile;
}

base::Status check_grants(const Draft& draft) {
    constexpr const char* kRemove = "remove the entry, or leave --cow out";
    for (const config::Item& item : draft.policy().mounts.writable) {
        base::Result<base::Path> path = absolute_entry(draft, item);
        bool is_in_project = path && path->is_within(draft.project);
        if (!is_own_grant(item) && !is_in_project)
            return entry_error(item,
                               base::format("{} can't be writable with --cow: it would be written directly",
                                            base::printable(item.text)),
                               kRemove);
    }
    for (const config::Item& item : draft.policy().home.writable) {
        if (!is_own_grant(item))
            return entry_error(item,
                               base::format("~/{} can't be writable with --cow: it would be written directly",
                                            base::printable(item.text)),
                               kRemove);
    }
    if (draft.policy().home.access == policy::HomeAccess::write)
        return refuse_layer(draft,
                            "the home directory can't be writable with --cow: it would be written directly",
                            "leave out --home write");
    return base::success();
}

bool can_mount_over_project(const Draft& draft) {
    return draft.plan.backend == Backend::native || draft.plan.backend == Backend::bwrap;
}

constexpr const char* kClone = "'--cow-engine clone' (cow.engine) makes a copy of the project instead";

base::Result<CowEngine> choose_engine(Draft& draft) {
    const Request& request = draft.inputs.request;
    const CowEngine wanted = draft.policy().cow.engine;
    const bool has_overlay = draft.plan.backend == Backend::native;
    const CowEngine engine = request.layer_engine.value_or(wanted);
    if (engine == CowEngine::clone) return engine;
    const std::string no_overlay =
        base::format("{} can't mount an overlay of the kernel", draft.backend().title);
    if (engine == CowEngine::overlay && !has_overlay) {
        base::Error error = refuse_layer(draft, no_overlay + ", which the layer needs",
                                         request.layer_engine ? "use --backend native" : kClone);
        if (!request.layer_engine) error.where = draft.policy().cow.engine_origin.describe();
        return error;
    }
    const std::string& reason = has_overlay ? request.overlay_obstacle : no_overlay;
    if (engine == CowEngine::overlay || reason.empty()) return CowEngine::overlay;
    draft.note(NoteKind::protection, "--cow works on a clone of the project: " + reason);
    return CowEngine::clone;
}

}  // namespace

base::Status choose_layer(Draft& draft) {
    if (!draft.policy().cow.enabled) return base::success();
    if (draft.policy().project.read_only) {
        draft.note(NoteKind::information, "--cow has no effect: the project can only be read");
        return base::success();
    }
    if (draft.inputs.request.job)
        return refuse_layer(draft, "a job of Slurm can't have a layer: the node would not see it",
                            "submit the job without --cow");
    if (!can_mount_over_project(draft))
        return refuse_layer(draft,
                            base::format("{} can't mount the layer of --cow in the place of the project",
                                         draft.backend().title),
                            "use --backend native or bwrap; 'agent-sandbox doctor' shows what they need");
    if (base::Status possible = check_grants(draft); !possible) return possible;
    base::Result<CowEngine> engine = choose_engine(draft);
    if (!engine) return engine.error();
    draft.plan.is_layered = true;
    draft.plan.is_cloned = *engine == CowEngine::clone;
    draft.plan.layer = draft.inputs.request.layer;
    return base::success();
}

static base::Path clone_of(const Plan& plan) {
    return plan.layer / "roots/0/clone/tree";
}

// Where the project itself would be mounted. What lies below it is taken from the clone, too: bubblewrap
// mounts by paths of the host. Threat: the agent has removed a name in an earlier session of the layer, or
// made a link of it, and a mask there would be mounted elsewhere (tests/jail/cow_clone.bats).
void mount_clone(Draft& draft) {
    if (!draft.plan.is_cloned) return;
    std::vector<Mount>& mounts = draft.plan.mounts;
    const base::Path clone = clone_of(draft.plan);
    const bool is_by_path = draft.plan.backend != Backend::native;
    const bool is_new = !draft.inputs.request.layer_engine.has_value();
    auto is_missing = [&](const Mount& mount) {
        bool is_place =
            std::ranges::find(draft.plan.layer_places, mount.target) != draft.plan.layer_places.end();
        if (is_new || is_place || !is_by_path || !mount.target.is_strictly_within(draft.project))
            return false;
        const base::Path there = clone / mount.target.relative_to(draft.project);
        base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(there);
        return !resolved || !resolved->exists || resolved->path != there;
    };
    std::erase_if(mounts, is_missing);
    for (Mount& mount : mounts) {
        bool is_bind = mount.kind == MountKind::bind_readonly || mount.kind == MountKind::bind_writable;
        base::Result<base::Path> source = base::Path::parse(mount.source);
        if (!is_bind || !source || !source->is_within(draft.project)) continue;
        bool is_project = mount.target == draft.project && *source == draft.project;
        if (is_project) {
            mount.source = clone.str();
        } else if (is_by_path && mount.target.is_within(draft.project)) {
            mount.source = (clone / source->relative_to(draft.project)).str();
        }
    }
}

// A rule about a missing name in the project needs something to mount on. The mount is on the overlay, so the
// backend makes the name in the layer.
void keep_places_in_layer(Draft& draft) {
    if (!draft.plan.is_layered) return;
    auto is_in_project = [&](const base::Path& path) { return path.is_strictly_within(draft.project); };
    for (const Placeholder& placeholder : draft.plan.placeholders) {
        if (is_in_project(placeholder.path)) draft.plan.layer_places.push_back(placeholder.path);
    }
    std::erase_if(draft.plan.placeholders,
                  [&](const Placeholder& placeholder) { return is_in_project(placeholder.path); });
}

}  // namespace plan
