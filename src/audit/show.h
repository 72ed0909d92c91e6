// SPDX-License-Identifier: MIT
// One event as one line for people: time, kind, verdict, subject and reason.
#pragma once

#include <string>

#include "audit/reader.h"

namespace audit {

// Without a line break. All recorded text is made printable.
std::string to_line(const Event& event, bool is_coloured);

}  // namespace audit
