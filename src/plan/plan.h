// SPDX-License-Identifier: MIT
// The whole jail as data. A pure function computes a plan (make_plan.h), `plan` and `--dry-run` print it,
// golden tests compare it, and a backend renders it. Every item contains its reason and the file and line of
// the setting behind it; every control contains the level that it reaches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/backend.h"
#include "base/path.h"
#include "config/value.h"
#include "network/exchange/spec.h"
#include "plan/request.h"
#include "policy/policy.h"
#include "rules/egress.h"
#include "seccomp/table.h"
#include "seccomp/trace.h"
#include "ssh_agent/rules.h"

namespace plan {

struct Reason {
    std::string why;
    config::Origin origin;
};

// ---- Files

// What a path and everything below it may be used for, unless a more specific rule applies.
enum class Access { hidden, masked, readonly, writable };

std::string_view to_text(Access access);

// Where the content comes from: the host's own files, an empty directory that is discarded with the jail, or
// a directory that is assembled entry by entry (/etc, /dev).
enum class Backing { host, ephemeral, assembled };

// Rules state the meaning; mounts implement it. The rule with the longest path decides; at equal length the
// stricter one.
struct PathRule {
    base::Path path;  // physical
    Access access = Access::hidden;
    Backing backing = Backing::host;
    // A mount of its own even if the access is the same as around it: a mount point can't be renamed or
    // removed.
    bool holds_name = false;
    Reason reason;
};

enum class MountKind {
    bind_readonly,
    bind_writable,
    overlay,       // a writable view of the source; what is written goes to the plan's layer
    bind_device,   // readable and writable as a device node or socket
    tmpfs,         // empty, writable, discarded with the jail
    directory,     // an empty directory of the root
    symlink,       // source is the text of the link
    file,          // source is the content, written into a directory of the jail's own (tmpfs or root)
    private_file,  // source is the content; a writable copy covers the target, changes are discarded
    empty_file,    // an empty read-only file covers the target
    proc,
    dev,
    queues,         // POSIX message queues of the jail alone
    helper_socket,  // of a helper process outside; source is its name, and this run may not have it
    held_link,      // the symbolic link at target, mounted on itself: it can't be replaced or removed
    seal,           // from here on the mount at target is read-only
};

std::string_view to_text(MountKind kind);

struct Mount {
    MountKind kind = MountKind::bind_readonly;
    base::Path target;
    std::string source;
    // A jailed process may have written around the source. The backend opens it without following links and
    // mounts the descriptor, so that a tree that changes during the launch can't redirect the mount.
    bool is_pinned = false;
    bool is_executable = false;  // of a file
    Reason reason;
};

// A file or directory that the launch creates on the host. To keep the jail from creating a name, there must
// be something to mount on. It is a directory wherever possible: removing one can never lose content, and git
// ignores it. Where git needs a file and fails on a directory, it is a file that changes nothing.
struct Placeholder {
    base::Path path;
    Reason reason;
    std::optional<std::string> content;  // of a file; nothing for a directory
};

// A protected name in the project that is not held: if it is missing at the start and exists at the end, it
// is moved out of the project (session/guard/new_names.h).
struct UnheldName {
    base::Path path;
    Reason reason;
    // The first missing component of the path. Nothing: the name exists, and is covered; it counts as new
    // only if a session that runs meanwhile saw it missing.
    std::optional<base::Path> first_missing;
};

// Directories that the launch creates if they are missing (home.writable).
struct NewDirectory {
    base::Path path;
    Reason reason;
};

// A file of the sandbox's own that replaces one of the user. The launch creates it if it is missing, and
// again when the user's file has changed since.
struct KeptFile {
    base::Path path;
    base::Path copied_from;
    std::string otherwise;  // the content where the user's file is missing
    Reason reason;
};

// ---- Environment

struct Variable {
    std::string name;
    std::string value;
    Reason reason;
};

struct RemovedVariable {
    std::string name;
    Reason reason;
    bool can_be_allowed = true;  // false: env.allow does not pass it either
};

struct Environment {
    std::vector<Variable> passed;
    std::vector<RemovedVariable> removed;
    // `removed` contains variables that no list allows and variables that a rule removed. The banner shows
    // their number.
};

// ---- The rest

// Unix sockets without a file (abstract names), where the jail is in the host's network namespace.
enum class AbstractSockets {
    inside,   // only the jail finds its own
    refused,  // an abstract name can't be bound
    shared,   // programs outside can connect to those of the jail
};
std::string_view to_text(AbstractSockets sockets);

struct Network {
    policy::NetworkMode asked = policy::NetworkMode::filtered;
    policy::NetworkMode reached = policy::NetworkMode::isolated;
    Reason reason;
    network::Egress egress;    // for the gateway; its rules have the mode that is reached
    bool closes_mail = false;  // mailers are covered by a stub
    AbstractSockets abstract_sockets = AbstractSockets::inside;
};

// What the gateway reads and where it puts credentials in (network/gateway/broker).
// A credential as `why` explains it. Neither a value nor a placeholder is in it.
struct UsedCredential {
    std::string name, title;
    std::vector<std::string> hosts, paths, methods, variables;
    config::Origin origin;  // of the entry of credentials.use
};

struct Broker {
    network::exchange::BrokerSpec spec;
    std::vector<UsedCredential> credentials;  // in the order of spec.bindings
    std::string roots;                        // PEM: the roots that this host trusts
};

// A Slurm command of the host.
struct SlurmCommand {
    std::string name;
    base::Path path;
};

// Slurm's commands inside the jail are stubs; a chaperon beside it runs the real ones.
struct Slurm {
    bool is_open = false;
    policy::SlurmScope scope = policy::SlurmScope::project;
    std::string network;                     // of jobs: a mode, or "session"
    base::Path program;                      // this one, at its path on the nodes
    std::vector<std::string> spank_options;  // "--name", "--name=", "--name[=]" (slurm/options/option.h)
    std::vector<SlurmCommand> commands;
};

// The jail's socket of the user's ssh-agent, behind a filter (ssh_agent/serve.h).
struct Ssh {
    bool is_open = false;
    ssh_agent::Rules rules;
    config::Origin hosts_origin;  // of the first entry
};

struct Processes {
    bool private_ipc = true;
    bool drops_capabilities = true;
    bool no_new_privileges = true;
};

// The second wall inside the mount namespace: Landlock allows writes only below these paths, whatever the
// mounts are.
struct SecondWall {
    bool is_wanted = true;
    bool guards_files = true;  // false: only signals and abstract sockets are blocked
    bool is_logged = false;    // denials go to the administrator's audit log, if the kernel supports it
    std::vector<base::Path> writable;
    std::vector<base::Path> used;  // may be written, but nothing created: devices, /proc
};

struct Limits {
    policy::Limit processes, memory, open_files, file_size, wall_time, idle_time;
};

struct Control {
    std::string name;  // "credentials", "other users", "network" …
    policy::Level level = policy::Level::hidden;
    bool is_asked = true;  // false: the policy itself turned it off
    std::string detail;
    config::Origin origin;
};

// A file or link of the sandbox's own, below the session's directory.
struct PlacedFile {
    std::string name;  // "stubs/sendmail"
    std::string content;
    bool is_executable = false;
};
struct PlacedLink {
    std::string name;
    std::string target;
};

// For a backend that can't mount, in place of /run/agent-sandbox: the session creates it before the launch
// and removes it after the jail has exited.
struct PrivateDirectory {
    base::Path path;  // the root: this backend needs no directory
    std::vector<PlacedFile> files;
    std::vector<PlacedLink> links;
};

// What the Landlock backend grants: a grant includes everything below its path and can't be taken back there.
enum class GrantKind {
    read,   // read, listed, executed
    use,    // read and written, nothing created: devices
    write,  // everything
};
std::string_view to_text(GrantKind kind);

struct Grant {
    base::Path path;
    GrantKind kind = GrantKind::read;
    Reason reason;
};

// A name that a rule hides and that is missing at launch: the guard covers it when it appears during the
// session.
struct LateName {
    base::Path directory;
    std::string pattern;  // of one name in it
    Access access = Access::hidden;
};

// What is searched for in the project, at launch and by the guard while the session runs.
struct Search {
    policy::Items mask, unmask;
    bool has_guard = true;              // something can be covered while the session runs
    bool is_complete = true;            // false: the launch has not searched the whole project
    size_t masked = 0;                  // files that the launch masks
    std::vector<std::string> findings;  // of the launch, relative to the project; the next one checks them
    std::vector<LateName> late_names;
    base::Path home;  // physical; the directories from it to a late name are pinned
};

enum class NoteKind { information, protection };  // protection is shown even with --quiet

struct Note {
    NoteKind kind = NoteKind::information;
    std::string text;
};

struct Plan {
    base::Backend backend = base::Backend::native;
    base::Path project;          // physical
    uint64_t project_inode = 0;  // expected inode; 0: any
    bool project_is_writable = true;
    // Copy-on-write: the project is the lower directory of an overlay, and `layer` the directory that
    // contains the upper one; or that directory contains a clone, which is mounted in its place.
    bool is_layered = false;
    bool is_cloned = false;
    base::Path layer;
    // Missing names in the project that rules cover. The launch makes them in the layer, and they are not
    // changes.
    std::vector<base::Path> layer_places;
    // Programs inside may write harmless settings into protected git configurations: the keeper judges each
    // new text (project/git_config_change.h).
    bool judges_git_config = false;
    // git inside may remove worktrees that existed at the start: the keeper executes that, too.
    bool removes_worktrees = false;
    base::Path working_directory;  // inside
    std::vector<std::string> command;
    std::vector<int> kept_descriptors;  // of the caller, for the command; besides 0, 1 and 2
    unsigned skipped_processes = 0;     // pids to skip: ranks of a job need different pids
    bool is_job = false;                // a job or a step of Slurm

    PrivateDirectory private_directory;
    base::Path private_home;    // a home directory that ends with the jail; the root: the jail has none
    std::vector<Grant> grants;  // of a backend without a view

    std::vector<PathRule> rules;  // sorted by path
    Search search;
    std::vector<Mount> mounts;  // in the order of mounting
    std::vector<Placeholder> placeholders;
    std::vector<UnheldName> unheld_names;
    std::vector<NewDirectory> new_directories;
    std::vector<KeptFile> kept_files;
    bool is_seen_from_inside = false;  // read back by the jail itself (summary.h)
    std::string agent;                 // names of the profiles in use; empty: none
    Environment environment;
    Network network;
    Broker broker;
    Slurm slurm;
    Ssh ssh;
    Processes processes;
    seccomp::Switches system_calls;
    seccomp::Trace trace;  // what the tracer observes of the command
    SecondWall second_wall;
    Limits limits;
    std::vector<Control> controls;
    std::vector<Note> notes;
};

}  // namespace plan
