// SPDX-License-Identifier: MIT
// Programs that build a sandbox or containers of their own, with namespaces that the jail refuses. They fail
// with messages that do not name the cause. So the start prints one line if such a program is the command,
// and the end one for each program that was refused (doorman::AnsweredCalls::refuses_namespaces).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace plan {

// The line for the command of this plan; empty: it needs none.
std::string line_about_own_sandbox(const Plan& plan);

// The same for a command that makes containers, wherever it was started (cli/verbs/explaining_stub.h).
std::string line_about_containers(const std::vector<std::string>& command);

// A program that was refused namespaces. Its name may come from the jail.
struct RefusedNamespaces {
    std::string line;    // for the end of the session
    std::string reason;  // for the record
    std::string change;  // the setting that would help; empty: none, or another way is better
};
RefusedNamespaces refused_namespaces(std::string_view program);

}  // namespace plan
