// SPDX-License-Identifier: MIT
// A plan for people and for programs. The JSON is stable: members keep their order and meaning, values of
// variables are never in it.
#pragma once

#include <string>

#include "base/json.h"
#include "plan/plan.h"

namespace plan {

base::Json to_json(const Plan& plan);
std::string to_text(const Plan& plan, bool is_coloured = false);

}  // namespace plan
