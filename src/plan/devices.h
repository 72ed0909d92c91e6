// SPDX-License-Identifier: MIT
// Device nodes beside the few that every program needs. A node comes in under its own name, after the jail's
// /dev is made and before it is sealed. devices.deny wins over everything, under whatever name a node is
// asked for.
#pragma once

#include "plan/draft.h"

namespace plan {

// The entry of devices.deny that takes this node away, or null.
const config::Item* denying_entry(const Draft& draft, const base::Path& node);

// `node` may be a link; what it leads to is what gets bound. Binding it again changes nothing.
void bind_device(Draft& draft, const base::Path& node, const Reason& reason);

// devices.gpu (gpu.cc).
base::Status add_gpus(Draft& draft);

}  // namespace plan
