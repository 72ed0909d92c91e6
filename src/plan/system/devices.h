// SPDX-License-Identifier: MIT
// Device nodes besides the few that every program needs. A node is mounted under its own name, after the
// jail's /dev is made and before it is sealed. devices.deny wins over everything, under whatever name an
// entry asks for a node.
#pragma once

#include "plan/draft.h"

namespace plan {

// The entry of devices.deny that denies this node, or null.
const config::Item* denying_entry(const Draft& draft, const base::Path& node);

// `node` may be a link; its target is bound. Binding it again changes nothing.
void bind_device(Draft& draft, const base::Path& node, const Reason& reason);

// devices.gpu (gpu.cc).
base::Status add_gpus(Draft& draft);

}  // namespace plan
