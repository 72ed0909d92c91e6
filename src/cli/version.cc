// SPDX-License-Identifier: MIT
#include "cli/output.h"
#include "cli/verbs.h"

namespace cli {

int version_verb(const Invocation& call) {
    return call.output.result("agent-sandbox " SANDBOX_VERSION "\n");
}

}  // namespace cli
