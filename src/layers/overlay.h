// SPDX-License-Identifier: MIT
// Whether the kernel can have an overlay over a project, with a layer in a directory. This is tried, because
// neither the kernel's version nor the file system's type shows it.
#pragma once

#include <string>

#include "base/path.h"

namespace layers {

// Why a session can't use an overlay, as the end of a sentence; empty: it can. Also files of other owners,
// which can't be changed in an overlay, as far as the first 2,000 entries of the project show them.
// `directory` is that of all layers; it is made. What worked is kept there and is not tried again until the
// machine starts again.
std::string overlay_obstacle(const base::Path& project, const std::string& directory);

}  // namespace layers
