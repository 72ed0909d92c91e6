// SPDX-License-Identifier: MIT
// Turns firejail's error output into one line that a user can act on.
#pragma once

#include <string_view>

#include "base/result.h"

namespace backends::firejail {

base::Error diagnose(std::string_view standard_error);

}  // namespace backends::firejail
