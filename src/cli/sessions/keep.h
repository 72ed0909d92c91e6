// SPDX-License-Identifier: MIT
// The lines at the end of a session about discarded files.
#pragma once

#include "cli/output.h"
#include "session/discarded/discarded.h"

namespace cli {

void tell_discarded(const Output& output, const session::Discarded& discarded);

}  // namespace cli
