// SPDX-License-Identifier: MIT
// What every backend opens before it starts a jail: the socket to the inner stage, the pipe for what the
// backend's own program says, the orders in a memory file; and what the started process does first.
#pragma once

#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/file.h"
#include "base/result.h"
#include "inner/orders.h"
#include "plan/plan.h"

namespace backends {

// Everything that the started process reads or writes; closed here once it is started.
struct Inheritance {
    base::Fd orders, control, diagnostics, standard_error;
    std::vector<base::Fd> others;  // of the backend's own
    std::vector<int> kept;  // the caller's: descriptors of the command, the terminal, the gateway's door

    std::vector<int> numbers() const;
};

base::Status open_channels(const plan::Plan& plan, const Caller& caller, Inheritance& inheritance,
                           Launched& launched);

// Orders with all that does not depend on how the view is built; `inheritance` must have its channels.
inner::Orders stage_orders(const plan::Plan& plan, const Caller& caller, const Inheritance& inheritance);
// Encodes them into the memory file.
base::Status write_orders(const inner::Orders& orders, Inheritance& inheritance);

// That a process is in; none where the caller may not look at it.
base::Fd mount_namespace_of(pid_t process);

// ---- In the child

// Ends when the parent does (unless a set-uid program is executed, which forgets it), takes the diagnostics
// pipe for its standard error, enters the control group and the namespaces of the caller's job, and keeps no
// descriptor but those of `inheritance`. The parent is named, because it may be dead before it can be asked
// for.
void prepare_child(const Inheritance& inheritance, const Caller& caller, pid_t parent);

[[noreturn]] void give_up(const std::string& act);

}  // namespace backends
