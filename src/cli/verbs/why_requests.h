// SPDX-License-Identifier: MIT
// `why request METHOD URL`, `why push HOST/REPOSITORY REF`, `why credential NAME`.
#pragma once

#include "base/result.h"
#include "cli/verbs.h"
#include "plan/print/explain.h"

namespace cli {

base::Result<plan::Explanation> explain_request(const Invocation& call);
base::Result<plan::Explanation> explain_push(const Invocation& call);
base::Result<plan::Explanation> explain_credential(const Invocation& call);

}  // namespace cli
