// SPDX-License-Identifier: MIT
// Caches that are kept from session to session, for this project alone. Threat: with a shared cache one
// project could change what another project, or a program outside, runs later. A cache that is discarded each
// time makes people turn the jail off.
#include "base/encoding/sha256.h"
#include "config/data.h"
#include "plan/draft.h"

namespace plan {
namespace {

// Do not create a cache for a tool that the user has never used.
bool is_used(const Draft& draft, const base::Path& target) {
    if (target.parent() != draft.home) return draft.tree().look(target.parent()).has_value();
    return target.name() == ".cache" || draft.tree().look(target).has_value();
}

// A path that a setting lists keeps the access that the setting gives it.
bool is_listed(const Draft& draft, const base::Path& target) {
    const PathRule* rule = draft.rules.decide(target);
    return rule != nullptr && rule->path == target && rule->reason.origin.layer != config::Layer::builtin;
}

}  // namespace

void add_caches(Draft& draft) {
    // A home directory that is shown as it is has the user's own caches.
    if (draft.home_is_real || !draft.policy().home.caches) return;
    const base::Path kept =
        draft.state_directory() / "caches" / base::sha256(draft.project.str()).substr(0, 16);
    for (const config::DataRow& row : config::data_list("home/caches")) {
        const base::Path target = draft.home / row.entry;
        bool meets_project = target.is_within(draft.project) || draft.project.is_within(target);
        if (meets_project || !is_used(draft, target) || is_listed(draft, target)) continue;
        const Reason reason{"cache of this project alone: " + std::string(row.reason),
                            draft.policy().home.caches_origin};
        // A cache in a directory that is shown as it is (~/go) needs a mount point there.
        const PathRule* around = draft.rules.decide(target);
        bool is_on_host = around != nullptr && around->backing == Backing::host;
        if (is_on_host && !draft.tree().look(target))
            draft.plan.placeholders.push_back(Placeholder{target, reason, {}});
        const base::Path own = kept / row.entry;
        draft.plan.new_directories.push_back({own, reason});
        draft.caches.push_back(
            Mount{.kind = MountKind::bind_writable, .target = target, .source = own.str(), .reason = reason});
        draft.extra_writable.push_back(target);
    }
}

}  // namespace plan
