// SPDX-License-Identifier: MIT
// The system's part of the view: what programs need to run, and no user's files.
#include <algorithm>

#include "base/inside/jail_files.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/draft.h"

namespace plan {
namespace {

// Directories that a variable can never open, whatever its value: users' files, run-time state, and what the
// plan builds itself.
constexpr std::string_view kNeverFromVariables[] = {"/home", "/root", "/run", "/var", "/tmp",  "/etc",
                                                    "/proc", "/sys",  "/dev", "/mnt", "/media"};

void add_tree(Draft& draft, const base::Path& path, std::string why, config::Origin origin) {
    base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(path);
    if (!resolved || !resolved->exists) return;
    draft.links.insert(draft.links.end(), resolved->links.begin(), resolved->links.end());
    draft.add_rule(resolved->path, Access::readonly, {std::move(why), std::move(origin)});
}

bool is_open_to_variables(const Draft& draft, const base::Path& literal) {
    if (literal.depth() == 0) return false;
    base::Result<host::Tree::Resolved> root = draft.tree().resolve(literal);
    if (!root || !root->exists) return false;
    return !root->path.is_within(draft.home) && !draft.home.is_within(root->path) &&
           std::ranges::none_of(kNeverFromVariables, [&](std::string_view place) {
               return root->path.is_within(base::Path::known(place));
           });
}

// Sites install module trees, Spack and conda roots anywhere; the caller's variables name them.
void add_trees_from_variables(Draft& draft) {
    for (const config::DataRow& row : config::data_list("system/trees_from_environment")) {
        std::string prefix = std::string(row.entry) + "=";
        for (const std::string& variable : draft.inputs.request.environment) {
            if (!variable.starts_with(prefix)) continue;
            for (std::string_view text : base::split(std::string_view(variable).substr(prefix.size()), ':')) {
                base::Result<base::Path> literal = base::Path::parse(text);
                if (literal && is_open_to_variables(draft, *literal))
                    add_tree(draft, *literal, std::string(row.reason),
                             config::from_variable(std::string(row.entry)));
            }
        }
    }
}

// The software of a loaded module. Modules name directories of programs and libraries; the other files that
// these need are below the parent directory. A directory directly below the root is never opened, because a
// site may keep all users' files there. The rule counts as built in: any setting that hides the path wins
// over it.
void add_trees_of_modules(Draft& draft) {
    constexpr std::string_view kBelowPrefix[] = {"bin", "sbin", "lib", "lib64", "include"};
    for (const std::string& text : draft.inputs.request.modules.search_places) {
        base::Result<base::Path> literal = base::Path::parse(text);
        if (!literal || !is_open_to_variables(draft, *literal)) continue;
        bool is_below_prefix = std::ranges::find(kBelowPrefix, literal->name()) != std::end(kBelowPrefix) &&
                               literal->depth() > 2 && is_open_to_variables(draft, literal->parent());
        add_tree(draft, is_below_prefix ? literal->parent() : *literal, "software of a module (modules.load)",
                 {});
    }
}

// The parts of /proc that reach beyond the jail's own processes. Threat: the kernel lists the caller's keys
// by name, which the seccomp filter can't see, and root, as the owner, may write settings of the whole
// machine without any capability. bubblewrap covers only directories that are writable themselves.
// (agent-sandbox selftest: ipc/key-listing, files/kernel-core-pattern)
void guard_proc(Draft& draft) {
    auto guard = [&](std::string_view place, Access access, MountKind kind, std::string_view why) {
        const base::Path path = base::Path::known(place);
        if (!draft.tree().look(path)) return;
        const Reason reason{std::string(why), {}};
        draft.add_rule(path, access, reason, Backing::assembled);
        std::string source = kind == MountKind::bind_readonly ? path.str() : "";
        draft.assembled.push_back(
            Mount{.kind = kind, .target = path, .source = std::move(source), .reason = reason});
    };
    if (!draft.policy().isolation.allow_keyrings) {
        guard("/proc/keys", Access::masked, MountKind::empty_file,
              "names of the keys in the caller's keyrings");
    }
    if (draft.inputs.facts.identity.uid == 0) {
        guard("/proc/sys", Access::readonly, MountKind::bind_readonly,
              "settings of the kernel, which belong to root");
    }
}

void add_shared_memory(Draft& draft) {
    const auto& isolation = draft.policy().isolation;
    const base::Path shm = base::Path::known("/dev/shm");
    draft.plan.processes.private_ipc = isolation.private_ipc;
    const std::optional<JobRequest>& job = draft.inputs.request.job;
    if (isolation.private_ipc) {
        bool is_shared = job && !job->shared_memory.is_root();
        draft.assembled.push_back(
            is_shared ? Mount{.kind = MountKind::bind_writable,
                              .target = shm,
                              .source = job->shared_memory.str(),
                              .reason = {"shared memory of the job on this node", {}}}
                      : Mount{.kind = MountKind::tmpfs,
                              .target = shm,
                              .reason = {"shared memory of the jail alone", isolation.private_ipc_origin}});
        // Landlock also needs this mount to find the queues: mq_open(2) bypasses every mount, but not
        // Landlock rules.
        draft.assembled.push_back(
            Mount{.kind = MountKind::queues,
                  .target = base::Path::known("/dev/mqueue"),
                  .reason = {"message queues of the jail alone", isolation.private_ipc_origin}});
        return;
    }
    for (std::string_view place : base::kSharedDirectories) {
        if (!draft.tree().look(base::Path::known(place))) continue;
        draft.assembled.push_back(
            Mount{.kind = MountKind::bind_device,
                  .target = base::Path::known(place),
                  .source = std::string(place),
                  .reason = {"isolation.private_ipc is off", isolation.private_ipc_origin}});
    }
    draft.note(NoteKind::protection,
               "shared memory and System V IPC are the host's (isolation.private_ipc is off)");
}

void add_temporary(Draft& draft) {
    const auto& isolation = draft.policy().isolation;
    for (std::string_view place : {"/tmp", "/var/tmp"}) {
        if (isolation.private_tmp) {
            draft.add_rule(base::Path::known(place), Access::writable,
                           {"temporary files of the jail alone", isolation.private_tmp_origin},
                           Backing::ephemeral);
        } else if (draft.tree().look(base::Path::known(place))) {
            draft.add_rule(base::Path::known(place), Access::writable,
                           {"isolation.private_tmp is off", isolation.private_tmp_origin});
        }
    }
    if (!isolation.private_tmp) {
        draft.note(NoteKind::protection,
                   "/tmp is the host's (isolation.private_tmp is off): programs keep control sockets there, "
                   "and who reaches "
                   "one may run commands outside the jail");
    }
}

// With the host's network, libraries look up its devices and their speed.
void add_network_devices(Draft& draft) {
    if (draft.plan.network.reached != policy::NetworkMode::open) return;
    const base::Path list = base::Path::known("/sys/class/net");
    const Reason reason{"devices of the host's network, which is open", draft.plan.network.reason.origin};
    if (!draft.tree().look(list)) return;
    draft.add_rule(list, Access::readonly, reason);
    for (const host::Entry& entry : draft.tree().list(list)) {
        base::Result<host::Tree::Resolved> device = draft.tree().resolve(list / entry.name);
        if (device && device->exists) draft.add_rule(device->path, Access::readonly, reason);
    }
}

// With the host's network, the host's configuration resolves names, and that file may be in /run.
void add_resolver_configuration(Draft& draft) {
    if (draft.plan.network.reached != policy::NetworkMode::open) return;
    base::Result<host::Tree::Resolved> resolver = draft.tree().resolve(base::Path::known("/etc/resolv.conf"));
    bool is_in_run = resolver && resolver->exists && resolver->path.is_within(base::Path::known("/run"));
    if (is_in_run) draft.add_rule(resolver->path, Access::readonly, {"the resolver's configuration", {}});
}

}  // namespace

void add_system(Draft& draft) {
    draft.assembled.push_back(Mount{.kind = MountKind::proc,
                                    .target = base::Path::known("/proc"),
                                    .reason = {"processes of the jail alone", {}}});
    draft.assembled.push_back(Mount{.kind = MountKind::dev,
                                    .target = base::Path::known("/dev"),
                                    .reason = {"the few devices every program needs", {}}});
    draft.add_rule(base::Path::known("/proc"), Access::writable, {"processes of the jail alone", {}},
                   Backing::assembled);
    draft.add_rule(base::Path::known("/dev"), Access::writable, {"the few devices every program needs", {}},
                   Backing::assembled);
    guard_proc(draft);
    add_shared_memory(draft);
    draft.assembled.push_back(Mount{.kind = MountKind::seal,
                                    .target = base::Path::known("/dev"),
                                    .reason = {"no device node can be added", {}}});

    draft.add_rule(base::Path::known("/etc"), Access::readonly,
                   {"what everyone on the host may read of /etc", {}}, Backing::assembled);
    for (const config::DataRow& row : config::data_list("system/trees")) {
        add_tree(draft, base::Path::known(row.entry), std::string(row.reason), {});
    }
    add_trees_from_variables(draft);
    add_trees_of_modules(draft);
    add_temporary(draft);
    draft.add_rule(base::Path::known("/run"), Access::readonly, {"run-time files of the host are absent", {}},
                   Backing::ephemeral);
    add_resolver_configuration(draft);
    add_network_devices(draft);

    draft.assembled.push_back(Mount{.kind = MountKind::bind_readonly,
                                    .target = draft.own_program(),
                                    .source = draft.inputs.facts.own_program.str(),
                                    .reason = {"the program itself: pid 1 of the jail", {}}});
    draft.assembled.push_back(Mount{.kind = MountKind::helper_socket,
                                    .target = draft.own / base::kNotifySocket,
                                    .source = "notify",
                                    .reason = {"rings the user's terminal: agent-sandbox notify", {}}});
    draft.assembled.push_back(Mount{.kind = MountKind::helper_socket,
                                    .target = draft.own / base::kMailSocket,
                                    .source = "mail",
                                    .reason = {"tells of mail that was refused", {}}});
    // A directory of the session is a directory of the host.
    bool is_on_host = !draft.backend().lays_files;
    draft.add_rule(draft.own, Access::readonly, {"the program itself", {}},
                   is_on_host ? Backing::host : Backing::assembled);
    if (!is_on_host) return;
    draft.add_rule(draft.own / base::kTemporary, Access::writable, {"temporary files of the session", {}});
    draft.add_rule(draft.inputs.facts.own_program, Access::readonly, {"the program itself", {}});
}

}  // namespace plan
