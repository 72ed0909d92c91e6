// SPDX-License-Identifier: MIT
// Files and links that the stage makes in an empty home of the jail, for a backend that can't.
#pragma once

#include "inner/launch_spec.h"

namespace inner {

// Replaces what is there already. Failures are ignored: a missing file is only an inconvenience for the user,
// and no promise depends on it. The place must belong to the jail: a check has shown that it is not the
// host's.
void write_files(const std::vector<WrittenFile>& files);

}  // namespace inner
