// SPDX-License-Identifier: MIT
// What this machine is and can do, probed once into a plain struct. It can also be read from a file, so that
// a golden test of the plan can use the facts of any machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/json.h"
#include "base/path.h"
#include "base/result.h"
#include "host/tree.h"

namespace host {

struct Identity {
    uint32_t uid = 0;
    uint32_t gid = 0;
    std::string user;
    std::string group;
    std::string shell;
    base::Path home;  // as the caller writes it; Tree::resolve gives the physical one
};

enum class ProgramState { usable, missing, untrusted, not_executable };

// A program that builds jails: bubblewrap or firejail.
struct TrustedProgram {
    ProgramState state = ProgramState::missing;
    base::Path path;
    bool is_setuid = false;
    std::string problem;  // why it may not be used, for a person
};

struct SlurmJob {
    std::string id;  // empty outside a job
    std::string node;
};

// What closes user namespaces to an unprivileged process.
enum class NamespaceObstacle { none, not_built_in, limit_is_zero, clone_is_restricted, apparmor };

struct Facts {
    // ---- From probe: what every launch needs.
    Identity identity;
    std::string kernel;   // release
    std::string machine;  // x86_64, aarch64
    // Why this program can't build a jail by itself, with a remedy, for a person; nothing: it can.
    std::optional<std::string> native_obstacle;
    // What blocks user namespaces, as far as files show; a trial finds more (trial.h). Nothing means that an
    // unprivileged process may create them; else the cause, for a person.
    NamespaceObstacle namespace_obstacle = NamespaceObstacle::none;
    std::optional<std::string> user_namespace_obstacle;
    bool apparmor_restricts_user_namespaces = false;
    bool apparmor_profile_for_bwrap = false;  // then the restriction does not apply to bwrap
    SlurmJob slurm_job;
    std::string nested_in;   // "container", "agent-sandbox": what we run inside of; empty on the host
    base::Path own_program;  // this executable
    std::vector<base::Path>
        private_etc;  // below /etc, readable by the caller but not by everyone (private_files.h)

    // ---- From probe_bwrap: where this program can't build the jail, or bubblewrap is asked for.
    TrustedProgram bwrap;

    // ---- From probe_others: what the other backends need, where native and bubblewrap do not work or the
    // user asks for another one.
    TrustedProgram firejail;
    int landlock_abi = 0;           // 0: none
    bool can_answer_calls = false;  // of our descendants; the cli sets it (doorman::is_possible)
    std::string answers_obstacle;   // why not, for a person

    // ---- From probe_details: what doctor and plan print, and what explains a failed launch.
    std::string os_name;   // PRETTY_NAME
    std::string lsm_list;  // security modules of this kernel; empty: unknown
    int ptrace_scope = 0;  // of the Yama module; 0 without it
    bool has_seccomp = true;
    bool has_cgroup_namespace = true;
    std::vector<std::string> gpu_devices;  // nodes under /dev
};

using Variables = std::vector<std::string>;  // "NAME=value"

// The cheap part: about thirty system calls. It only reads files and makes calls, and never runs a program.
// `environment` is the caller's.
base::Result<Facts> probe(const Variables& environment);
// The same through a tree that the plan will use too, so that each file is read only once.
base::Result<Facts> probe(const Tree& tree, const Variables& environment);
// For a caller whose identity is already known.
base::Result<Facts> probe(const Tree& tree, const Variables& environment, Identity identity);

// The physical path of the current directory.
base::Result<base::Path> find_working_directory();

// The part of probe about user namespaces, for a given tree.
void probe_namespaces(const Tree& tree, Facts& facts);
// The Landlock ABI of the kernel.
void probe_landlock(Facts& facts);
// The two halves of native_obstacle: files that show that user namespaces are blocked for this program, and
// calls that this kernel lacks or a filter refuses. An obstacle that is already set stays.
void probe_own_namespaces(const Tree& tree, Facts& facts);
void probe_calls(Facts& facts);

// Adds bubblewrap; `pinned` is isolation.bwrap.
void probe_bwrap(const Tree& tree, const std::optional<base::Path>& pinned, Facts& facts);

// Adds what the other backends need.
void probe_others(const Tree& tree, const std::optional<base::Path>& pinned_firejail, Facts& facts);

// Adds what only doctor, plan and the explanation of a failed launch need.
void probe_details(Facts& facts);
// The part of it that is read from files.
void probe_files(const Tree& tree, Facts& facts);

// The calling user, from the files of the account database. If they do not contain the user (a directory
// service), from the caller's own variables, checked against the owner of the home directory.
base::Result<Identity> probe_identity(const Variables& environment);
base::Result<Identity> probe_identity(const Tree& tree, uint32_t uid, uint32_t gid,
                                      const Variables& environment);

// The home directory that the files of the account database give this user, whatever HOME is. Nothing where
// they do not contain the user, or it is not a directory of that user.
std::optional<base::Path> account_home(const Tree& tree, uint32_t uid);

// What the caller runs inside; see Facts::nested_in.
std::string probe_nesting(const Tree& tree, const Variables& environment);

// The first bubblewrap that may be run: root owns it, and no other user can write it or a directory above it.
// Its path is physical, so that the checked file is the one that is run.
TrustedProgram find_bwrap(const std::optional<base::Path>& pinned);
TrustedProgram find_bwrap(const Tree& tree, const std::optional<base::Path>& pinned,
                          uint32_t trusted_owner = 0);
// The same for firejail, which works only if it is set-user-ID root.
TrustedProgram find_firejail(const Tree& tree, const std::optional<base::Path>& pinned,
                             uint32_t trusted_owner = 0);

// The value of a variable, the first of that name; nothing where it is not set.
std::optional<std::string_view> variable(const Variables& environment, std::string_view name);

std::string_view to_text(ProgramState state);
std::string_view to_text(NamespaceObstacle obstacle);

// Every fact, in a stable order. A member that is missing in the JSON keeps its default; an unknown value is
// an error.
base::Json to_json(const Facts& facts);
base::Result<Facts> facts_from_json(const base::Json& json);

}  // namespace host
