// SPDX-License-Identifier: MIT
// firejail makes its own /dev with the few devices that every program needs, and allows others only by whole
// kinds. Of these kinds the plan can want only graphics processors. Nodes of that kind that the plan does not
// name are covered.
#pragma once

#include "backends/firejail/view.h"
#include "base/result.h"
#include "host/tree.h"
#include "plan/plan.h"

namespace backends::firejail {

// Refuses a device of devices.allow that firejail can't allow. A device that we added ourselves is left out.
base::Status allow_devices(const plan::Plan& plan, const host::Tree& tree, View& view);

}  // namespace backends::firejail
