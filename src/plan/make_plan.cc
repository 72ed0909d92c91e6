// SPDX-License-Identifier: MIT
// Theory of operation. The steps collect rules (what a path may be used for) and directories that are
// assembled entry by entry. Then the rules are settled and turned into mounts, and everything is mounted in
// one order:
//
//   1. /proc, /dev, /etc and other assembled directories   (on the empty root)
//   2. the mounts of the rules, parents before children
//   3. private copies of single files, symbolic links to visible paths
//   4. seals: from here on the root and the assembled directories are read-only
//
// bubblewrap applies its arguments in order and later ones win, so the order is a property that tests check.
#include "plan/make_plan.h"

#include <algorithm>

#include "base/paths_inside.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/draft.h"
#include "plan/mounts.h"
#include "plan/print/summary.h"

namespace plan {
namespace {

bool is_shown(const PathRule* rule) {
    return rule != nullptr && (rule->access == Access::readonly || rule->access == Access::writable);
}

// The directory in which the command starts: the caller's where the jail has it, else the project.
base::Path inner_directory(const Draft& draft) {
    base::Result<host::Tree::Resolved> here = draft.tree().resolve(draft.inputs.request.working_directory);
    if (!here) return draft.project;
    const PathRule* rule = draft.rules.decide(here->path);
    bool is_there = is_shown(rule) && (rule->backing == Backing::host || rule->path == here->path);
    return is_there ? here->path : draft.project;
}

// A link must be created where its directory is not a view of the host, which already contains it.
bool is_link_missing(const Draft& draft, const host::Tree::Link& link) {
    const PathRule* rule = draft.rules.decide(link.path);
    if (rule == nullptr) return true;
    if (rule->access == Access::hidden || rule->access == Access::masked) return false;
    return rule->backing == Backing::ephemeral;
}

void add_links(Draft& draft) {
    std::vector<base::Path> made;
    for (const host::Tree::Link& link : draft.links) {
        if (!is_link_missing(draft, link) || std::ranges::find(made, link.path) != made.end()) continue;
        made.push_back(link.path);
        draft.plan.mounts.push_back(
            Mount{.kind = MountKind::symlink,
                  .target = link.path,
                  .source = link.text,
                  .reason = {"a link of the host that leads to something visible", {}}});
    }
}

// Mounts each cache over what the rules show at its path, and before what they show within it.
void lay_caches(Draft& draft) {
    std::vector<Mount>& mounts = draft.plan.mounts;
    for (Mount& cache : draft.caches) {
        auto place = std::ranges::find_if(mounts, [&](const Mount& mount) {
            return mount.kind == MountKind::seal || mount.target.is_strictly_within(cache.target);
        });
        mounts.insert(place, std::move(cache));
    }
}

// What the jail may read about itself, mounted beside the program that reads it.
void add_summary(Plan& plan, const base::Path& own) {
    if (!plan.place.directory.is_root()) {
        plan.place.files.push_back({std::string(base::kSummary), encode_summary(plan)});
        return;
    }
    auto program = std::ranges::find(plan.mounts, own / base::kOwnProgram, &Mount::target);
    if (program == plan.mounts.end()) return;
    plan.mounts.insert(program + 1, Mount{.kind = MountKind::file,
                                          .target = own / base::kSummary,
                                          .source = encode_summary(plan),
                                          .reason = {"agent-sandbox why, inside", {}}});
}

// Commands that the sandbox builds itself name the program at its path in bubblewrap's jail.
void name_own_program(Draft& draft) {
    std::vector<std::string>& command = draft.plan.command;
    if (!command.empty() && command.front() == base::kOwnProgramPath)
        command.front() = draft.own_program().str();
}

// The caller can write there, and so can a jail: a bind below these paths is pinned (Mount::is_pinned).
bool is_below_the_callers_hand(const Draft& draft, const base::Path& path) {
    return path.is_within(draft.home) || path.is_within(draft.project);
}

}  // namespace

base::Result<host::Tree::Resolved> resolve_entry(Draft& draft, const base::Path& path,
                                                 const config::Origin& origin) {
    base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(path);
    if (!resolved) {
        base::Error error = resolved.error();
        error.where = origin.describe();
        return error;
    }
    draft.links.insert(draft.links.end(), resolved->links.begin(), resolved->links.end());
    return resolved;
}

base::Result<base::Path> absolute_entry(const Draft& draft, const config::Item& item) {
    std::string_view text = item.text;
    if (text == "~" || text.starts_with("~/")) return draft.inputs.facts.identity.home / text.substr(1);
    base::Result<base::Path> path = base::Path::parse(text);
    if (path) return path;
    base::Error error = path.error();
    error.where = item.origin.describe();
    return error;
}

std::string reason_for(std::string_view list, std::string_view setting, const config::Item& item) {
    if (item.origin.layer == config::Layer::builtin) {
        for (const config::DataRow& row : config::data_list(list)) {
            if (row.entry == item.text) return std::string(row.reason);
        }
    }
    return std::string(setting);
}

base::Status finish_mounts(Draft& draft) {
    Plan& plan = draft.plan;
    plan.mounts = std::move(draft.assembled);
    std::vector<Mount> seals;
    std::erase_if(plan.mounts, [&](const Mount& mount) {
        if (mount.kind != MountKind::seal) return false;
        seals.push_back(mount);
        return true;
    });
    for (Mount& mount : render_rules(draft.rules, draft.tree())) {
        bool is_bind = mount.kind == MountKind::bind_readonly || mount.kind == MountKind::bind_writable;
        mount.is_pinned = is_bind && is_below_the_callers_hand(draft, mount.target);
        plan.mounts.push_back(std::move(mount));
    }
    lay_caches(draft);
    // The rules' seals are already at the end of their list; insert the links before them.
    auto first_seal = std::ranges::find(plan.mounts, MountKind::seal, &Mount::kind);
    std::vector<Mount> rule_seals(std::make_move_iterator(first_seal),
                                  std::make_move_iterator(plan.mounts.end()));
    plan.mounts.erase(first_seal, plan.mounts.end());
    std::ranges::move(draft.after_rules, std::back_inserter(plan.mounts));
    add_links(draft);
    std::ranges::move(rule_seals, std::back_inserter(plan.mounts));
    std::ranges::move(seals, std::back_inserter(plan.mounts));
    plan.mounts.push_back(Mount{.kind = MountKind::seal,
                                .target = base::Path(),
                                .reason = {"nothing can be added beside what the rules show", {}}});
    plan.rules = draft.rules.sorted();
    return base::success();
}

base::Result<Plan> make_plan(const Inputs& inputs) {
    base::Result<host::Tree::Resolved> home = inputs.tree.resolve(inputs.facts.identity.home);
    if (!home) return home.error();
    Draft draft{.inputs = inputs, .home = home->path, .home_names = HomeNames(inputs.tree, home->path)};
    draft.links = home->links;
    draft.home_is_real = inputs.policy.home.access == policy::HomeAccess::read ||
                         inputs.policy.home.access == policy::HomeAccess::write;
    draft.plan.command = inputs.request.command;
    if (inputs.agent != nullptr) draft.plan.agent = inputs.agent->name;

    if (base::Status done = choose_backend(draft); !done) return done.error();
    name_own_program(draft);
    if (base::Status done = check_project(draft); !done) return done.error();
    if (base::Status done = choose_network(draft); !done) return done.error();
    add_system(draft);
    if (base::Status done = add_home(draft); !done) return done.error();
    add_agent(draft);
    if (base::Status done = add_mounts(draft); !done) return done.error();
    if (base::Status done = add_devices(draft); !done) return done.error();
    if (base::Status done = add_project(draft); !done) return done.error();
    if (base::Status done = apply_deny_writable(draft); !done) return done.error();
    if (base::Status done = protect_start_up(draft); !done) return done.error();
    filter_start_up_files(draft);
    hide_named_credentials(draft);
    hide_slurm(draft);
    add_rank_directories(draft);
    if (base::Status done = hold_own_places(draft); !done) return done.error();
    if (base::Status done = draft.rules.settle(); !done) return done.error();
    add_late_names(draft);
    if (base::Status done = set_egress(draft); !done) return done.error();
    add_seeded_files(draft);
    add_caches(draft);
    lay_agent_files(draft);
    close_mail(draft);
    open_slurm(draft);
    add_job(draft);
    assemble_etc(draft);
    draft.plan.working_directory = inner_directory(draft);
    pin_rules(draft);
    if (base::Status done = finish_mounts(draft); !done) return done.error();
    lay_place(draft);
    raise_walls(draft);
    if (base::Status done = set_trace(draft); !done) return done.error();
    set_limits(draft);
    add_environment(draft);
    if (base::Status done = add_controls(draft); !done) return done.error();
    add_summary(draft.plan, draft.own);
    return std::move(draft.plan);
}

}  // namespace plan
