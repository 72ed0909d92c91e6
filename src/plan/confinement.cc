// SPDX-License-Identifier: MIT
// The walls inside the view: the seccomp filter and Landlock. Landlock's paths come from the rules, and from
// single mounts that have no rule. They do not come from the mounts of the rules, because Landlock is there
// for a mistake in those mounts.
#include <algorithm>

#include "base/inside/devices.h"
#include "plan/draft.h"

namespace plan {
namespace {

bool is_below_another(const std::vector<base::Path>& places, const base::Path& path) {
    return std::ranges::any_of(places, [&](const base::Path& place) { return path.is_within(place); });
}

// Rules are sorted, a parent before its children: a grant of a directory includes everything in it.
void give(std::vector<base::Path>& places, const base::Path& path) {
    if (!is_below_another(places, path)) places.push_back(path);
}

void give_writable_rules(SecondWall& wall, const std::vector<PathRule>& rules) {
    for (const PathRule& rule : rules) {
        if (rule.access != Access::writable) continue;
        give(rule.backing == Backing::assembled ? wall.used : wall.writable, rule.path);
    }
}

// Paths that have no rule of their own, because they are part of an assembled directory.
void give_parts(SecondWall& wall, const std::vector<Mount>& mounts) {
    for (std::string_view place : base::kSharedDirectories) give(wall.writable, base::Path::known(place));
    for (const Mount& mount : mounts) {
        if (mount.kind == MountKind::private_file) give(wall.writable, mount.target);
    }
}

}  // namespace

void raise_walls(Draft& draft) {
    const auto& isolation = draft.policy().isolation;
    Plan& plan = draft.plan;
    plan.system_calls = {.allow_nested_namespaces = isolation.allow_nested_namespaces,
                         .allow_ptrace = isolation.allow_ptrace,
                         .allow_perf = isolation.allow_perf,
                         .allow_keyrings = isolation.allow_keyrings};
    plan.second_wall.guards_files = !isolation.allow_nested_namespaces;
    give_writable_rules(plan.second_wall, plan.rules);
    give_parts(plan.second_wall, plan.mounts);
    for (const base::Path& place : draft.extra_writable) give(plan.second_wall.writable, place);
}

}  // namespace plan
