// SPDX-License-Identifier: MIT
// One event as one line for people: when, what kind, what became of it, what it was about and why.
#pragma once

#include <string>

#include "audit/reader.h"

namespace audit {

// Without an end. Everything that was recorded is made printable.
std::string to_line(const Event& event, bool is_coloured);

}  // namespace audit
