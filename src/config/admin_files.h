// SPDX-License-Identifier: MIT
// For tests, which can't make files of root: the administrator's files with another owner expected. The
// program itself only ever calls read_admin_files.
#pragma once

#include <sys/types.h>

#include <vector>

#include "config/sources.h"

namespace config {

base::Result<std::vector<LayerFile>> read_admin_files_owned_by(const Places& places, uid_t owner);

}  // namespace config
