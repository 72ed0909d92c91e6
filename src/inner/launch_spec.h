// SPDX-License-Identifier: MIT
// The input of the inner stage, read once from a memory file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "doorman/answered_calls.h"
#include "inner/command/process_state.h"
#include "landlock/wall.h"
#include "seccomp/table.h"
#include "seccomp/trace.h"

namespace inner {

// A mount whose place a process of another jail could have moved while this jail was built. bubblewrap can't
// use descriptors (it turns them back into paths), so the stage compares what is mounted with what the
// supervisor had opened.
struct Check {
    std::string target;
    bool is_readonly = false;
    bool has_identity = false;  // the fields below count
    // The opposite: the target, with links followed, must not be what the fields below describe. For a
    // backend whose program silently skips what it can't close.
    bool is_other = false;
    uint64_t device = 0;
    uint64_t inode = 0;
    uint32_t type = 0;  // S_IFMT bits
};

// See preparation.h.
struct WrittenFile {
    std::string path;
    std::string content;  // or the target of a link
    bool is_link = false;
};

struct LaunchSpec {
    std::vector<std::string> command;
    std::vector<std::string> environment;  // "NAME=value", complete
    std::string working_directory = "/";
    std::vector<std::string> world_writable;  // directories to give mode 1777: /tmp, /dev/shm
    std::vector<Check> checks;
    std::vector<WrittenFile> files;
    std::string private_home;         // a directory that ends with the jail, for the supervisor; empty: none
    std::vector<std::string> masked;  // files whose first opening is reported (stage.cc)
    seccomp::Switches system_calls;   // which of the ready filters
    seccomp::Trace trace;             // what the supervisor is notified of (start.h)
    landlock::Wall wall;
    // Without namespaces the stage is not pid 1: it ends what the command leaves behind (descendants.h) and
    // gives up the caller's privileges itself.
    bool has_namespaces = true;
    doorman::AnsweredCalls doorman;
    SignalState signals;      // the caller's, for the command
    uint64_t open_files = 0;  // the caller's soft limit of descriptors, for the command; 0: as it is
    std::vector<ResourceLimit> limits;  // for the command
    std::vector<int> kept_descriptors;  // the command's, besides 0, 1 and 2
    // Ranks of one program distinguish each other by their pids, and each would be pid 2 of its own
    // namespace. So this many pids are skipped first.
    unsigned skipped_processes = 0;
    bool is_job = false;  // of Slurm, which may signal every process of the jail itself
    int standard_error =
        2;             // the command's; descriptor 2 of the backend's program is a pipe to the supervisor
    int control = -1;  // socket to the supervisor: reports out, signals in
    // The mount namespace, for the supervisor. Not encoded: only a stage that is a copy of the supervisor
    // sends it, because the supervisor can't open it in /proc by then. -1: the supervisor opens it itself.
    int mounts = -1;
    int terminal = -1;            // the caller's controlling terminal; -1: none
    bool takes_terminal = false;  // the command starts in the foreground of that terminal
    // The stage is not pid 1 of its namespace, and kills all other processes in it when it ends. A check must
    // have shown that the namespace belongs to the jail.
    bool ends_others = false;
};

// Versioned text of fields that each end with NUL; decode refuses anything else.
std::string encode(const LaunchSpec& spec);
base::Result<LaunchSpec> decode(std::string_view text);

}  // namespace inner
