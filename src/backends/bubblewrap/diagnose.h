// SPDX-License-Identifier: MIT
// What bubblewrap says when it fails, as one line that a user can act on.
#pragma once

#include <string_view>

#include "base/result.h"

namespace backends::bubblewrap {

base::Error diagnose(std::string_view standard_error);

}  // namespace backends::bubblewrap
