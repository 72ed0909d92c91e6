// SPDX-License-Identifier: MIT
// `plan` and `--dry-run`: print the jail as data; no command runs.
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "plan/print/print.h"

namespace cli {

int plan_verb(const Invocation& call) {
    base::Result<Planned> planned = make_plan(call.caller, call.arguments, "", call.arguments.words);
    if (!planned) return call.output.fail(planned.error());
    for (const std::string& warning : planned->settings.effective.warnings) call.output.warning(warning);
    if (call.arguments.wants_json) return call.output.result(plan::to_json(planned->plan).dump() + "\n");
    return call.output.result(plan::to_text(planned->plan, call.output.colours_results()));
}

}  // namespace cli
