// SPDX-License-Identifier: MIT
// What every backend offers to the session: it takes a plan and returns a launched process.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "doorman/answered_calls.h"
#include "inner/command/process_state.h"
#include "inner/launch_spec.h"
#include "network/netns/set_up.h"
#include "plan/plan.h"

namespace backends {

namespace native {
class EarlyChild;
}

// State of the caller's process that must reach the command unchanged, although the launcher changes it for
// itself.
struct Caller {
    inner::SignalState signals;
    uint64_t open_files = 0;  // soft limit of descriptors
    std::vector<inner::ResourceLimit> limits;
    int cgroup = -1;              // cgroup.procs of the jail's cgroup; -1: none
    int terminal = -1;            // the controlling terminal; -1: none
    bool takes_terminal = false;  // the command is to start in its foreground
    // Namespaces in which the jail is made, to be entered in this order: those of a job whose jails share the
    // System V objects by which ranks find each other. The jail then has no ipc namespace of its own.
    std::vector<int> namespaces;
    std::map<std::string, std::string> sockets;  // of helpers: name and path on the host
    // For a backend that passes connections to the gateway one by one (plan/backend.h): the socket for that.
    int handoff = -1;
    doorman::AnsweredCalls answers;  // for calls that a process outside the jail answers
    // For a backend that sets up the jail's network itself: what to set up, and the socket for the result.
    // Without listeners only the loopback device is brought up.
    network::netns::NetworkRequest network = {.has_listeners = false};
    int listeners = -1;
    native::EarlyChild* early_child = nullptr;  // becomes the jail; null: launch() makes a child
};

// A started jail. The process is our child and dies with us. When it ends, the jail is gone too, unless the
// process itself was killed.
struct Launched {
    pid_t process = -1;
    base::Fd control;      // socket to the inner stage (inner/messages.h)
    base::Fd diagnostics;  // what the backend's own program wrote to its standard error
    base::Fd information;  // names the process in the jail's namespaces, if the gateway has to enter them
};

// What every backend opens before it starts a jail: the socket to the inner stage, the pipe for the error
// output of the backend's own program, the launch specification in a memory file. Also the first steps of the
// started process.

// Everything that the started process reads or writes; closed here once it is started.
struct Inheritance {
    base::Fd spec, control, diagnostics, standard_error;
    std::vector<base::Fd> others;  // used only by the backend
    // The caller's: descriptors of the command, the terminal, the socket to the gateway.
    std::vector<int> kept;

    std::vector<int> numbers() const;
};

base::Status open_channels(const plan::Plan& plan, const Caller& caller, Inheritance& inheritance,
                           Launched& launched);

// Masked files whose openings are reported. Each needs a cover with an inode of its own.
inline constexpr size_t kMostWatchedMasks = 64;

// The launch specification with everything that does not depend on how the view is built; the channels of
// `inheritance` must be open.
inner::LaunchSpec launch_spec_of(const plan::Plan& plan, const Caller& caller,
                                 const Inheritance& inheritance);
// Encodes it into the memory file.
base::Status write_launch_spec(const inner::LaunchSpec& spec, Inheritance& inheritance);

// The mount namespace of a process; not set if the caller may not open it.
base::Fd mount_namespace_of(pid_t process);

// ---- In the child

// The child dies with the parent (unless it executes a set-uid program, which clears PDEATHSIG), uses the
// diagnostics pipe as its standard error, enters the cgroup and the namespaces of the caller's job, and
// closes all descriptors but those of `inheritance`. `parent` is an argument, because the parent may be dead
// before getppid is called.
void prepare_child(const Inheritance& inheritance, const Caller& caller, pid_t parent);

[[noreturn]] void give_up(const std::string& act);

}  // namespace backends
