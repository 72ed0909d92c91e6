// SPDX-License-Identifier: MIT
// What this machine can enforce, control by control, and the exact remedy for what it can't. Pure: facts in,
// findings out. The remedy never starts with making the host weaker for everyone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "host/facts.h"
#include "host/trial.h"

namespace host {

enum class Verdict { good, warning, bad };

std::string_view to_text(Verdict verdict);

struct Finding {
    std::string name;  // "user-namespaces", "bubblewrap" …
    Verdict verdict = Verdict::good;
    std::string detail;  // one line
    std::string fix;     // may have several lines; empty where nothing needs to be done
};

// What was tried beside what was looked at; nothing where it was not tried.
struct Trials {
    bool tried_user_namespace = false;
    std::optional<std::string> user_namespace_failure;  // from try_user_namespace
    std::optional<base::Result<BwrapVersion>> bwrap_version;
};

Trials run_trials(const Facts& facts);

std::vector<Finding> diagnose(const Facts& facts, const Trials& trials = {});

// Whether a jail can be built at all.
bool can_jail(const std::vector<Finding>& findings);

// The text for /etc/apparmor.d that lets this bwrap make user namespaces.
std::string apparmor_profile(const base::Path& bwrap);

base::Json to_json(const Finding& finding);

}  // namespace host
