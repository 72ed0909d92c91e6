// SPDX-License-Identifier: MIT
// Which calls are asked for, and which are refused by their arguments alone. A second filter beside the
// jail's own (seccomp/table.h): of two filters the kernel takes the stricter word, and refusing is stricter
// than asking.
#pragma once

#include <vector>

#include "doorman/answered_calls.h"
#include "doorman/program.h"

namespace doorman {

std::vector<Row> rows_for(const AnsweredCalls& calls);

}  // namespace doorman
