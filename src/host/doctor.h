// SPDX-License-Identifier: MIT
// What this machine can enforce, control by control, and the exact remedy for what it can't. Pure: facts in,
// findings out. The first remedy never weakens the host for everyone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/json.h"
#include "base/result.h"
#include "host/facts.h"
#include "host/trial.h"

namespace host {

enum class Severity { good, warning, bad };

std::string_view to_text(Severity severity);

struct Finding {
    std::string name;  // "user-namespaces", "bubblewrap" …
    Severity severity = Severity::good;
    std::string detail;  // one line
    std::string fix;     // may have several lines; empty where nothing needs to be done
};

// Results of trials, in addition to the facts; nothing where it was not tried.
struct Trials {
    bool tried_user_namespace = false;
    std::optional<std::string> user_namespace_failure;  // from try_user_namespace
    std::optional<std::string> native_failure;          // from try_native
    std::optional<base::Result<BwrapVersion>> bwrap_version;
    std::optional<std::string> firejail_failure;  // from try_firejail, where no better backend works
};

Trials run_trials(const Facts& facts);

// Turns failed trials into facts, so that a backend that would fail is not chosen.
void take_in(const Trials& trials, Facts& facts);

// One finding for each component that a jail is built with. A bad one excludes a backend, not every jail.
std::vector<Finding> diagnose(const Facts& facts, const Trials& trials = {});

base::Json to_json(const Finding& finding);

}  // namespace host
