// SPDX-License-Identifier: MIT
// `why`: the verdict on a path, a variable or a host, the rule that decides, where it was written, and the
// smallest change that would allow it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/json.h"
#include "base/path.h"
#include "base/result.h"
#include "host/tree.h"
#include "plan/plan.h"
#include "rules/engine.h"

namespace plan {

struct Explanation {
    std::string subject;
    bool is_allowed = false;
    std::string verdict;  // "hidden", "readable", "writable", "passed", "removed", …
    Reason reason;
    // The smallest flag or line that would allow it, or would keep what is written; empty where nothing can.
    std::string change;
};

Explanation explain_path(const Plan& plan, const host::Tree& tree, const base::Path& path, bool to_write);
Explanation explain_variable(const Plan& plan, std::string_view name);
// HOST, HOST:PORT or udp:HOST:PORT; without a port 443. Makes no DNS lookup.
base::Result<Explanation> explain_host(const Plan& plan, std::string_view text);  // explain_host.cc
// The question as the rules expect it: with a network of its own, the host's loopback has another name.
network::Question question_for_rules(const Plan& plan, const network::Question& question);
// The same for a verdict that the caller already has.
Explanation explain_verdict(const Plan& plan, const network::Question& question, network::Verdict verdict);

base::Json to_json(const Explanation& explanation);
std::string to_text(const Explanation& explanation, bool is_coloured = false);

}  // namespace plan
