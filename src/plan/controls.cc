// SPDX-License-Identifier: MIT
// What the jail promises in this run, control by control, and the check that none is weaker than what was
// required.
#include "base/text.h"
#include "landlock/rights.h"
#include "plan/draft.h"

namespace plan {
namespace {

using policy::HomeAccess;
using policy::Level;
using policy::NetworkMode;

// The inner stage installs the filter or runs nothing. Landlock is asked for at launch, whatever is known
// here: no promise rests on it alone, so that a kernel without it (or a launch, which does not probe for it)
// is not refused, and the stage reports what it got.
void add_walls(Draft& draft) {
    const host::Facts& facts = draft.inputs.facts;
    const SecondWall& wall = draft.plan.second_wall;
    std::vector<Control>& controls = draft.plan.controls;
    controls.push_back(Control{.name = "system calls",
                               .level = facts.has_seccomp ? Level::denied : Level::absent,
                               .detail = "calls that reach around the jail or deep into the kernel"});
    bool guards_files = wall.guards_files && facts.landlock_abi >= landlock::kFirstUsableAbi;
    bool keeps_signals = landlock::guarded_scopes(facts.landlock_abi) != 0;
    std::string detail = guards_files ? "writes once more by Landlock" : "writes by the mounts alone";
    if (keeps_signals) detail += "; signals and abstract sockets by Landlock";
    if (!wall.guards_files) detail += " (isolation.allow_nested_namespaces)";
    controls.push_back(Control{.name = "second wall",
                               .level = guards_files || keeps_signals ? Level::denied : Level::absent,
                               .is_asked = false,
                               .detail = std::move(detail)});
}

Level level_of(NetworkMode mode) {
    switch (mode) {
        case NetworkMode::open:
            return Level::absent;
        case NetworkMode::filtered:
        case NetworkMode::proxied:
            return Level::denied;
        case NetworkMode::isolated:
            return Level::hidden;
    }
    return Level::absent;
}

void add_network(Draft& draft) {
    const Network& network = draft.plan.network;
    bool is_open = network.reached == NetworkMode::open;
    draft.plan.controls.push_back(Control{.name = "network",
                                          .level = level_of(network.reached),
                                          .is_asked = !(is_open && network.asked == NetworkMode::open),
                                          .detail = std::string(policy::to_text(network.reached)),
                                          .origin = network.reason.origin});
    // The ports are what holds; the stub tells why, and holds alone where the network is open.
    Level stub = network.closes_mail ? Level::cooperative : Level::absent;
    std::string detail = is_open ? "the ports are open" : "the ports are closed";
    detail += network.closes_mail ? ", and mailers say so" : "; mailers are left as they are";
    draft.plan.controls.push_back(Control{.name = "mail",
                                          .level = is_open ? stub : level_of(network.reached),
                                          .is_asked = network.closes_mail,
                                          .detail = std::move(detail),
                                          .origin = draft.policy().network.mail_block_origin});
}

// Only where the host has Slurm: elsewhere there is nothing to promise about it.
void add_slurm(Draft& draft) {
    const Slurm& slurm = draft.plan.slurm;
    if (slurm.commands.empty()) return;
    std::string jobs = slurm.scope == policy::SlurmScope::none
                           ? "all jobs can be seen"
                           : "jobs of this " + std::string(policy::to_text(slurm.scope)) + " can be seen";
    draft.plan.controls.push_back(Control{
        .name = "slurm",
        .level = Level::hidden,
        .detail = slurm.is_open ? jobs + "; each runs in a jail of its own" : "closed",
        .origin = slurm.is_open ? draft.policy().slurm.scope_origin : draft.policy().slurm.mode_origin});
}

}  // namespace

base::Status add_controls(Draft& draft) {
    const policy::Policy& policy = draft.policy();
    std::vector<Control>& controls = draft.plan.controls;
    auto add = [&](std::string name, Level level, bool is_asked, std::string detail,
                   config::Origin origin = {}) {
        controls.push_back(Control{std::move(name), level, is_asked, std::move(detail), std::move(origin)});
    };

    add("files", Level::hidden, true, "what no rule shows does not exist");
    // Inside a home that is shown as a whole, a name can be covered but not taken away.
    add("credentials", draft.home_is_real ? Level::denied : Level::hidden, true,
        draft.home_is_real ? "names are seen, content is not" : "they do not exist",
        policy.home.access_origin);
    add("other users", policy.isolation.filter_passwd ? Level::hidden : Level::absent,
        policy.isolation.filter_passwd, "accounts and home directories",
        policy.isolation.filter_passwd_origin);
    add("temporary files", policy.isolation.private_tmp ? Level::hidden : Level::absent,
        policy.isolation.private_tmp, "/tmp and /var/tmp", policy.isolation.private_tmp_origin);
    add("shared memory", policy.isolation.private_ipc ? Level::hidden : Level::absent,
        policy.isolation.private_ipc, "/dev/shm, System V and POSIX queues",
        policy.isolation.private_ipc_origin);
    add("processes", Level::hidden, true, "processes outside can't be seen, signalled or traced");
    add("privileges", Level::denied, true, "no capability, no gain through setuid programs");
    add_walls(draft);
    add("environment", Level::hidden, true, "secrets are taken out before anything runs",
        policy.env.mode_origin);
    add_network(draft);
    add_slurm(draft);

    for (const Control& control : controls) {
        if (!control.is_asked || control.level >= policy.isolation.require) continue;
        return base::Error{.what = "the control '" + control.name + "' would reach only " +
                                   std::string(policy::to_text(control.level)) + " (" + control.detail +
                                   "), and " + std::string(policy::to_text(policy.isolation.require)) +
                                   " is required",
                           .advice = "change the setting named here, or ask for less with --require",
                           .where = policy.isolation.require_origin.describe()};
    }
    return base::success();
}

}  // namespace plan
