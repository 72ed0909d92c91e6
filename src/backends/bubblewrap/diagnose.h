// SPDX-License-Identifier: MIT
// Turns bubblewrap's error output into one line that a user can act on.
#pragma once

#include <string_view>

#include "base/result.h"

namespace backends::bubblewrap {

base::Error diagnose(std::string_view standard_error);

}  // namespace backends::bubblewrap
