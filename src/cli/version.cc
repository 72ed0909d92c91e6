// SPDX-License-Identifier: MIT
#include "cli/version.h"

#include <string>

#include "base/text.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace cli {

std::string_view version() {
    return SANDBOX_VERSION;
}

int version_verb(const Invocation& call) {
    return call.output.result(base::format("agent-sandbox {}\n", version()));
}

}  // namespace cli
