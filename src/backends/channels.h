// SPDX-License-Identifier: MIT
// What every backend opens before it starts a jail: the socket to the inner stage, the pipe for the error
// output of the backend's own program, the launch specification in a memory file. Also the first steps of the
// started process.
#pragma once

#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/file.h"
#include "base/result.h"
#include "inner/launch_spec.h"
#include "plan/plan.h"

namespace backends {

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
