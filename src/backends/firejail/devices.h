// SPDX-License-Identifier: MIT
// firejail makes a /dev of its own with the few devices that every program needs, and lets in whole kinds of
// others. Of these the plan can want graphics processors alone; nodes of that kind that it does not name are
// covered.
#pragma once

#include "backends/firejail/view.h"
#include "base/result.h"
#include "host/tree.h"
#include "plan/plan.h"

namespace backends::firejail {

// Refuses a device that somebody asked for and firejail has no way to let in; one that we would have added
// ourselves is left out.
base::Status allow_devices(const plan::Plan& plan, const host::Tree& tree, View& view);

}  // namespace backends::firejail
