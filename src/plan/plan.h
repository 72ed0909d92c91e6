// SPDX-License-Identifier: MIT
// The whole jail as data. A plan is computed by a pure function (make_plan.h), printed by `plan` and
// `--dry-run`, compared by golden tests, and rendered by a backend. Every item carries why it is there and
// where that was written; every control carries the level that it reaches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/path.h"
#include "config/origin.h"
#include "network/rules/egress.h"
#include "plan/request.h"
#include "policy/policy.h"
#include "seccomp/table.h"
#include "seccomp/trace.h"

namespace plan {

struct Reason {
    std::string why;
    config::Origin origin;
};

// ---- Files

// What a path and all below it may be used for, until a more specific rule says otherwise.
enum class Access { hidden, masked, readonly, writable };

std::string_view to_text(Access access);

// Where the content comes from: the host's own files, an empty place that ends with the jail, or a place that
// is put together entry by entry (/etc, /dev).
enum class Backing { host, ephemeral, assembled };

// Rules are the meaning; mounts are what makes it so. The rule with the longest path decides; at equal length
// the stricter one.
struct PathRule {
    base::Path path;  // physical
    Access access = Access::hidden;
    Backing backing = Backing::host;
    // A mount of its own even where the access is that of its surroundings: a mount point can't be renamed or
    // removed.
    bool holds_name = false;
    Reason reason;
};

enum class MountKind {
    bind_readonly,
    bind_writable,
    bind_device,   // readable and writable as a device node or socket
    tmpfs,         // empty, writable, gone with the jail
    directory,     // an empty directory of the root
    symlink,       // source is the text of the link
    file,          // source is the content, written into a place of ours (tmpfs or root)
    private_file,  // source is the content; a writable copy covers the target, changes are discarded
    empty_file,    // an empty read-only file covers the target
    proc,
    dev,
    queues,         // POSIX message queues of the jail alone
    helper_socket,  // of a process beside the jail; source is its name, and there may be none in this run
    held_link,      // the symbolic link at target, mounted on itself: it can't be replaced or removed
    seal,           // from here on the mount at target is read-only
};

std::string_view to_text(MountKind kind);

struct Mount {
    MountKind kind = MountKind::bind_readonly;
    base::Path target;
    std::string source;
    // The source lies where a jailed process may have written: the backend opens it without following links
    // and mounts the descriptor, so that a tree that changes under us can't redirect the mount.
    bool is_pinned = false;
    bool is_executable = false;  // of a file
    Reason reason;
};

// Something made on the host before the launch, because a name that must not be created can only be held by
// something to mount on. It is a directory wherever possible: one can be removed without ever losing content,
// and git does not see it. Where git wants a file and dies of a directory it is a file that changes nothing.
struct Placeholder {
    base::Path path;
    Reason reason;
    std::optional<std::string> content;  // of a file; nothing for a directory
};

// Directories that the launch makes where they are missing (home.writable).
struct NewDirectory {
    base::Path path;
    Reason reason;
};

// A file of the sandbox's own that stands for one of the user's: made where it is missing, and anew when the
// user's has changed since.
struct KeptFile {
    base::Path path;
    base::Path copied_from;
    std::string otherwise;  // the content where the user has none
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
    bool can_be_allowed = true;  // false: env.allow does not let it pass either
};

struct Environment {
    std::vector<Variable> passed;
    std::vector<RemovedVariable> removed;
    // Held back because they are on no list, or because a rule took them: the number the banner shows is that
    // of `removed`.
};

// ---- The rest

struct Network {
    policy::NetworkMode asked = policy::NetworkMode::filtered;
    policy::NetworkMode reached = policy::NetworkMode::isolated;
    Reason reason;
    network::Egress egress;    // what the gateway is told; its rules have the mode that is reached
    bool closes_mail = false;  // mailers are covered by a stub
};

// A command of Slurm's as the host has it.
struct SlurmCommand {
    std::string name;
    base::Path path;
};

// Slurm's commands inside the jail are stubs; a chaperon beside it runs the real ones.
struct Slurm {
    bool is_open = false;
    policy::SlurmScope scope = policy::SlurmScope::project;
    std::string network;  // of jobs: a mode, or "session"
    base::Path program;   // this one, as the nodes have it
    std::vector<SlurmCommand> commands;
};

struct Processes {
    bool private_ipc = true;
    bool drops_capabilities = true;
    bool no_new_privileges = true;
};

// The second wall inside the mount namespace: writes only below these paths, whatever the mounts say.
struct SecondWall {
    bool is_wanted = true;
    bool guards_files = true;  // false: signals and abstract sockets alone are kept inside
    bool is_logged = false;    // denials go to the administrator's audit log, where the kernel can
    std::vector<base::Path> writable;
    std::vector<base::Path> used;  // written but not made: devices, /proc
};

struct Limits {
    policy::Limit processes, memory, open_files, file_size, wall_time, idle_time;
};

struct Control {
    std::string name;  // "credentials", "other-users", "network" …
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

// What a backend that can't mount gives the jail in place of /run/agent-sandbox: made by the session before
// the launch, removed when the jail is dead.
struct Place {
    base::Path directory;  // the root: this backend needs none
    std::vector<PlacedFile> files;
    std::vector<PlacedLink> links;
};

// What Landlock alone is told: what is granted is granted with all below it, and nothing takes it back.
enum class GrantKind {
    read,   // read, listed, executed
    use,    // read and written, not made: devices
    write,  // everything
};
std::string_view to_text(GrantKind kind);

struct Grant {
    base::Path path;
    GrantKind kind = GrantKind::read;
    Reason reason;
};

// A name that a rule takes away and that is not there yet: covered when it appears while the session runs.
struct LateName {
    base::Path directory;
    std::string pattern;  // of one name in it
    Access access = Access::hidden;
};

// What is looked for in the project at launch, and by the guard while the session runs.
struct Search {
    policy::Items mask, unmask;
    bool has_guard = true;              // something can be covered while the session runs
    bool is_complete = true;            // false: the launch has not searched the whole project
    size_t masked = 0;                  // files that the launch masks
    std::vector<std::string> findings;  // of the launch, relative to the project: known places for the next
    std::vector<LateName> late_names;
    base::Path home;  // physical: late names in it are pinned from there on
};

enum class NoteKind { information, protection };  // protection is shown even with --quiet

struct Note {
    NoteKind kind = NoteKind::information;
    std::string text;
};

struct Plan {
    std::string backend;         // "native"; see backend.h
    base::Path project;          // physical
    uint64_t project_inode = 0;  // that it must have; 0: any
    bool project_is_writable = true;
    base::Path working_directory;  // inside
    std::vector<std::string> command;
    std::vector<int> kept_descriptors;  // of the caller's, for the command; besides 0, 1 and 2
    unsigned skipped_processes = 0;     // numbers that the command's process passes over

    Place place;
    std::vector<Grant> grants;  // of a backend without a view

    std::vector<PathRule> rules;  // sorted by path
    Search search;
    std::vector<Mount> mounts;  // in the order of mounting
    std::vector<Placeholder> placeholders;
    std::vector<NewDirectory> new_directories;
    std::vector<KeptFile> kept_files;
    bool is_seen_from_inside = false;  // read back by the jail itself (summary.h)
    std::string agent;                 // whose profile counts; empty: none
    Environment environment;
    Network network;
    Slurm slurm;
    Processes processes;
    seccomp::Switches system_calls;
    seccomp::Trace trace;  // what of the command is observed from outside
    SecondWall second_wall;
    Limits limits;
    std::vector<Control> controls;
    std::vector<Note> notes;
};

}  // namespace plan
