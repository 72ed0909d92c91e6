// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "audit/proposal.h"
#include "cli/output.h"

namespace cli {

struct DigestRequest {
    std::string record;           // the path of its first part
    std::string state_directory;  // has the marks of things that are not needed
    audit::UserDirectories directories;
};

// Prints the refusals at the end of a session, if there were any: at most twelve lines, each with the change
// that would allow it.
void tell_digest(const Output& output, const DigestRequest& request);

}  // namespace cli
