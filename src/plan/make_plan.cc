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
#include <array>
#include <iterator>

#include "base/inside/jail_files.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/agent/known_agents.h"
#include "plan/draft.h"
#include "plan/network/known_hosts.h"
#include "plan/print/summary.h"
#include "plan/rules.h"
#include "plan/system/explaining_stubs.h"

namespace plan {
namespace {

bool is_shown(const PathRule* rule) {
    return rule != nullptr && (rule->access == Access::readonly || rule->access == Access::writable);
}

// A link must be created where its directory is not a view of the host, which already contains it.
bool is_link_missing(const Draft& draft, const host::Tree::Link& link) {
    const PathRule* rule = draft.rules.decide(link.path);
    if (rule == nullptr) return true;
    if (rule->access == Access::hidden || rule->access == Access::masked) return false;
    return rule->backing == Backing::ephemeral;
}

// The order of mounting. Whatever is mounted comes before the seal of the directory that it is mounted in.
enum class Rank { assembled, rules, single_files, links, rule_seals, assembled_seals, root_seal };

// One list for each rank, because sorting moves every mount several times.
class RankedMounts {
  public:
    void add(Rank rank, Mount mount) { of(rank).push_back(std::move(mount)); }
    // Seals of the same part come later than its other mounts.
    void add(Rank rank, Rank seals, std::vector<Mount> mounts) {
        of(rank).reserve(of(rank).size() + mounts.size());
        for (Mount& mount : mounts) add(mount.kind == MountKind::seal ? seals : rank, std::move(mount));
    }
    // Over what the rules show at its path, and before what they show within it.
    void insert_cache(Mount cache) {
        std::vector<Mount>& rules = of(Rank::rules);
        auto place = std::ranges::find_if(
            rules, [&](const Mount& each) { return each.target.is_strictly_within(cache.target); });
        rules.insert(place, std::move(cache));
    }
    std::vector<Mount> take() {
        size_t count = 0;
        for (const std::vector<Mount>& rank : ranks_) count += rank.size();
        std::vector<Mount> mounts;
        mounts.reserve(count);
        for (std::vector<Mount>& rank : ranks_) std::ranges::move(rank, std::back_inserter(mounts));
        return mounts;
    }

  private:
    std::vector<Mount>& of(Rank rank) { return ranks_[static_cast<size_t>(rank)]; }

    std::array<std::vector<Mount>, static_cast<size_t>(Rank::root_seal) + 1> ranks_;
};

void add_links(const Draft& draft, RankedMounts& mounts) {
    std::vector<base::Path> made;
    for (const host::Tree::Link& link : draft.links) {
        if (!is_link_missing(draft, link) || std::ranges::find(made, link.path) != made.end()) continue;
        made.push_back(link.path);
        mounts.add(Rank::links, Mount{.kind = MountKind::symlink,
                                      .target = link.path,
                                      .source = link.text,
                                      .reason = {"a link of the host that leads to something visible", {}}});
    }
}

// What the jail may read about itself, mounted beside the program that reads it.
void add_summary(Draft& draft) {
    Plan& plan = draft.plan;
    if (!plan.private_directory.path.is_root()) {
        plan.private_directory.files.push_back({std::string(base::kSummary), encode_summary(plan)});
        return;
    }
    auto program = std::ranges::find(plan.mounts, draft.own_program(), &Mount::target);
    if (program == plan.mounts.end()) return;
    plan.mounts.insert(program + 1, Mount{.kind = MountKind::file,
                                          .target = draft.own / base::kSummary,
                                          .source = encode_summary(plan),
                                          .reason = {"agent-sandbox why, inside", {}}});
}

// Commands that the sandbox builds itself name the program at its path in bubblewrap's jail.
void name_own_program(Draft& draft) {
    std::vector<std::string>& command = draft.plan.command;
    if (!command.empty() && command.front() == base::kOwnProgramPath)
        command.front() = draft.own_program().str();
}

base::Status settle_rules(Draft& draft) {
    return draft.rules.settle();
}

// The directory in which the command starts: the caller's where the jail has it, else the project.
void choose_directory(Draft& draft) {
    base::Result<host::Tree::Resolved> here = draft.tree().resolve(draft.inputs.request.working_directory);
    const PathRule* rule = here ? draft.rules.decide(here->path) : nullptr;
    bool is_there = is_shown(rule) && (rule->backing == Backing::host || rule->path == here->path);
    draft.plan.working_directory = is_there ? here->path : draft.project;
}

// The caller can write there, and so can a jail: a bind below these paths is pinned (Mount::is_pinned).
bool is_below_the_callers_hand(const Draft& draft, const base::Path& path) {
    return path.is_within(draft.home) || path.is_within(draft.project) ||
           std::ranges::find(draft.approved, path) != draft.approved.end();
}

// A masked file with other content is one mount, not two at the same place.
void fill_mask(Draft& draft, Mount& mask) {
    auto content = std::ranges::find(draft.after_rules, mask.target, &Mount::target);
    if (content == draft.after_rules.end() || content->kind != MountKind::file) return;
    mask = std::move(*content);
    draft.after_rules.erase(content);
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

void finish_mounts(Draft& draft) {
    RankedMounts mounts;
    mounts.add(Rank::assembled, Rank::assembled_seals, std::move(draft.assembled));
    std::vector<Mount> shown = render_rules(draft.rules, draft.tree());
    for (Mount& mount : shown) {
        bool is_bind = mount.kind == MountKind::bind_readonly || mount.kind == MountKind::bind_writable;
        mount.is_pinned = is_bind && is_below_the_callers_hand(draft, mount.target);
        if (draft.plan.is_layered && !draft.plan.is_cloned && mount.target == draft.project && is_bind)
            mount.kind = MountKind::overlay;
        if (mount.kind == MountKind::empty_file) fill_mask(draft, mount);
    }
    mounts.add(Rank::rules, Rank::rule_seals, std::move(shown));
    mounts.add(Rank::single_files, Rank::single_files, std::move(draft.after_rules));
    add_links(draft, mounts);
    mounts.add(Rank::root_seal, Mount{.kind = MountKind::seal,
                                      .target = base::Path(),
                                      .reason = {"nothing can be added beside what the rules show", {}}});
    for (Mount& cache : draft.caches) mounts.insert_cache(std::move(cache));
    draft.plan.mounts = mounts.take();
    mount_clone(draft);
    draft.plan.rules = draft.rules.sorted();
}

namespace {

// What the steps of a phase may rely on.
enum class Phase {
    choose,   // nothing: they decide which jail it is
    rules,    // backend, project and network mode: they collect rules; a stricter rule wins in any order
    guard,    // every rule of the settings: they restrict what these show
    settle,   // all rules: it drops those that a stricter one overrules
    content,  // settled rules: they add files, and mounts over what the rules show
    mounts,   // every mount: they put them in order and add what depends on it
    rest,     // the finished view: what is enforced beside it, and what the plan reports
};

// A row of the table of steps. A step that can't fail returns nothing.
struct Step {
    constexpr Step(Phase its_phase, base::Status (*act)(Draft&)) : phase(its_phase), may_fail(act) {}
    constexpr Step(Phase its_phase, void (*act)(Draft&)) : phase(its_phase), always(act) {}

    base::Status take(Draft& draft) const {
        if (may_fail != nullptr) return may_fail(draft);
        always(draft);
        return base::success();
    }

    Phase phase;
    base::Status (*may_fail)(Draft&) = nullptr;
    void (*always)(Draft&) = nullptr;
};

}  // namespace

base::Result<Plan> make_plan(const Inputs& inputs) {
    static constexpr Step kSteps[] = {
        {Phase::choose, choose_backend},         // what the machine can enforce
        {Phase::choose, name_own_program},       // its path depends on the backend
        {Phase::choose, check_project},          // may this directory be a project?
        {Phase::choose, choose_layer},           // copy-on-write, or the project itself
        {Phase::choose, choose_network},         // the mode that the backend reaches
        {Phase::rules, add_system},              // system trees, /tmp, /run, /dev, the program itself
        {Phase::rules, add_home},                // access mode, lists, credentials
        {Phase::rules, add_agent},               // the agent's state and its protected parts
        {Phase::rules, add_mounts},              // mounts.*, sockets
        {Phase::rules, add_devices},             // devices.*, graphics processors
        {Phase::rules, add_project},             // the project, git, protected and masked paths
        {Phase::guard, apply_deny_writable},     // over every writable path
        {Phase::guard, protect_start_up},        // files that run outside later, below every writable path
        {Phase::guard, filter_start_up_files},   // copies without the lines that hold a secret
        {Phase::guard, hide_named_credentials},  // files that variables name, wherever they are
        {Phase::guard, part_login_directories},  // of log-ins that stay outside
        {Phase::guard, hide_credential_files},   // of which the jail gets copies with placeholders
        {Phase::guard, hide_slurm},              // the cluster's own sockets and keys
        {Phase::guard, add_rank_directories},    // of a job, which its ranks share
        {Phase::guard, hold_own_places},         // the last: no rule may open the sandbox's own state
        {Phase::settle, settle_rules},
        {Phase::content, add_late_names},         // names to cover if they appear later
        {Phase::content, set_egress},             // the rules of the network
        {Phase::content, add_broker},             // placeholders, and trust in the session's root
        {Phase::content, add_seeded_files},       // copies of the user's files in the home directory
        {Phase::content, lay_credential_files},   // copies with placeholders
        {Phase::content, add_caches},             // of package managers
        {Phase::content, lay_agent_files},        // the sandbox's settings for the agent
        {Phase::content, close_mail},             // stubs in place of mailers
        {Phase::content, add_agent_stubs},        // for agents without a profile in this session
        {Phase::content, open_slurm},             // stubs in place of Slurm's commands
        {Phase::content, add_job},                // what a job passes to its steps
        {Phase::content, open_ssh},               // the filtered ssh-agent, and the keys of its hosts
        {Phase::content, settle_signatures},      // of git, by the filtered ssh-agent or not at all
        {Phase::content, add_known_hosts},        // public keys for ssh
        {Phase::content, add_explaining_stubs},   // for programs whose messages do not name the cause
        {Phase::content, assemble_etc},           // with the files that the steps above added
        {Phase::content, choose_directory},       // in which the command starts
        {Phase::mounts, keep_places_in_layer},    // nothing is made in a project below a layer
        {Phase::mounts, pin_rules},               // names that the jail must not rename or replace
        {Phase::mounts, finish_mounts},           // the order of all mounts
        {Phase::mounts, plan_private_directory},  // a directory instead of mounts, for a backend without them
        {Phase::rest, raise_walls},               // seccomp and Landlock
        {Phase::rest, set_trace},                 // the walls report what it observes
        {Phase::rest, set_limits},
        {Phase::rest, add_environment},
        {Phase::rest, add_controls},  // the level that each control reaches
        {Phase::rest, add_summary},   // the last: it contains the plan
    };
    static_assert(std::ranges::is_sorted(kSteps, {}, &Step::phase));

    base::Result<host::Tree::Resolved> home = inputs.tree.resolve(inputs.facts.identity.home);
    if (!home) return home.error();
    Draft draft{.inputs = inputs, .home = home->path, .home_names = HomeNames(inputs.tree, home->path)};
    draft.links = home->links;
    draft.home_is_real = inputs.policy.home.access == policy::HomeAccess::read ||
                         inputs.policy.home.access == policy::HomeAccess::write;
    draft.plan.command = inputs.request.command;
    for (const config::Profile& profile : inputs.agents)
        draft.plan.agent += (draft.plan.agent.empty() ? "" : ", ") + profile.name;
    for (const Step& step : kSteps) {
        if (base::Status done = step.take(draft); !done) return done.error();
    }
    return std::move(draft.plan);
}

}  // namespace plan
