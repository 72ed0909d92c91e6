// SPDX-License-Identifier: MIT
// Whether this firejail has the options that the jail needs. Searches its file for them, because
// distributions patch versions, and running it would cost more than the jail.
#pragma once

#include <string>

#include "base/result.h"

namespace backends::firejail {

base::Status knows_options(const std::string& program);

}  // namespace backends::firejail
