// SPDX-License-Identifier: MIT
// For tests, which can't create files owned by root: reads the administrator's files with another expected
// owner. The program itself calls only read_admin_files.
#pragma once

#include <sys/types.h>

#include <vector>

#include "config/files/sources.h"

namespace config {

base::Result<std::vector<LayerFile>> read_admin_files_owned_by(const Places& places, uid_t owner);

}  // namespace config
