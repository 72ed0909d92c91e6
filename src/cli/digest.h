// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "audit/proposal.h"
#include "cli/output.h"

namespace cli {

struct DigestRequest {
    std::string record;           // the path of its first part
    std::string state_directory;  // where marks of what is not needed are kept
    audit::Surroundings surroundings;
};

// What was refused, at the end of a session: at most twelve lines, each with what would allow it. For
// sessions in which something was.
void tell_digest(const Output& output, const DigestRequest& request);

}  // namespace cli
