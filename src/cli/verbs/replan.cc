// SPDX-License-Identifier: MIT
#include "cli/verbs/replan.h"

#include <algorithm>

#include "cli/arguments.h"
#include "config/settings.h"
#include "plan/print/explain.h"
#include "plan/print/summary.h"

namespace cli {
namespace {

using session::LiveRule;

base::Status add_rule(Arguments& arguments, const LiveRule& rule) {
    std::string_view key = rule.is_allowed ? "network.allow" : "network.block";
    const config::Setting& setting = *config::find_setting(key);
    base::Result<std::string> text = config::canonical_text(setting, rule.target);
    if (!text) return text.error();
    config::Origin origin =
        config::from_flag(rule.is_allowed ? "agent-sandbox allow" : "agent-sandbox block");
    config::Value& value = arguments.settings[std::string(key)];
    if (value.items.empty()) value.origin = origin;
    value.items.push_back({*std::move(text), origin});
    return base::success();
}

bool is_same(const config::Value& left, const config::Value& right) {
    return left.text == right.text &&
           std::ranges::equal(left.items, right.items, {}, &config::Item::text, &config::Item::text);
}

// Settings that have changed in the files and that a running session can't apply.
std::vector<std::string> needing_restart(const policy::Effective& before, const policy::Effective& now) {
    std::vector<std::string> keys;
    for (const config::Setting& setting : config::settings()) {
        if (setting.is_dynamic) continue;
        auto earlier = before.values.find(setting.key);
        auto later = now.values.find(setting.key);
        bool is_known = earlier != before.values.end() && later != now.values.end();
        if (is_known && !is_same(earlier->second, later->second)) keys.emplace_back(setting.key);
    }
    return keys;
}

// Report when another rule still decides against this one. A pattern can't be checked.
base::Status check_effect(const plan::Plan& plan, const LiveRule& rule) {
    base::Result<plan::Explanation> explained = plan::explain_host(plan, rule.target);
    if (!explained || explained->is_allowed == rule.is_allowed) return base::success();
    std::string stays = rule.is_allowed ? " stays refused: " : " stays open: ";
    return base::Error{.what = rule.target + stays + explained->reason.why,
                       .advice = explained->change,
                       .where = explained->reason.origin.describe()};
}

}  // namespace

session::Replan replan_of(const Invocation& call, const std::string& session, const Planned& planned) {
    return
        [&call, session, &planned](const std::vector<LiveRule>& rules) -> base::Result<session::Replanned> {
            // Files may have changed since the start; read them again.
            Caller caller = call.caller;
            caller.disk = host::DiskTree();
            Arguments arguments = call.arguments;
            for (const LiveRule& rule : rules) {
                if (base::Status added = add_rule(arguments, rule); !added) return added.error();
            }
            base::Result<Planned> now = make_plan(caller, arguments, session, arguments.words);
            if (!now) return now.error();
            if (!rules.empty()) {
                if (base::Status checked = check_effect(now->plan, rules.back()); !checked)
                    return checked.error();
            }
            // Keep the mode of the existing network namespace.
            now->plan.network.egress.rules.mode = planned.plan.network.egress.rules.mode;
            return session::Replanned{
                .egress = now->plan.network.egress,
                .policy = plan::policy_digest(now->plan),
                .restart = needing_restart(planned.settings.effective, now->settings.effective)};
        };
}

}  // namespace cli
