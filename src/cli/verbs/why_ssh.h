// SPDX-License-Identifier: MIT
// `why ssh USER@HOST`: whether the user's ssh-agent signs a login there for the jail.
#pragma once

#include <string>

#include "base/result.h"
#include "plan/plan.h"
#include "plan/print/explain.h"

namespace cli {

base::Result<plan::Explanation> explain_ssh(const plan::Plan& plan, const std::string& target);

}  // namespace cli
