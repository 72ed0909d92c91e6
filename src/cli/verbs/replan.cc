// SPDX-License-Identifier: MIT
#include "cli/verbs/replan.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/arguments.h"
#include "config/settings.h"
#include "credentials/resolve.h"
#include "network/requests/settings_text.h"
#include "plan/print/explain.h"
#include "plan/print/summary.h"

namespace cli {
namespace {

using session::LiveRule;

// The setting that gets the entry.
base::Result<std::string> key_for(const LiveRule& rule) {
    if (!is_about_requests(rule)) return base::format("network.{}", to_text(rule.kind));
    bool is_git = rule.target.starts_with("push ") || rule.target.starts_with("fetch ");
    if (!is_git) return base::format("requests.{}", to_text(rule.kind));
    if (rule.kind == LiveRule::Kind::allow) return std::string("requests.git");
    return base::Error{.what = "requests.git has only entries that permit",
                       .advice = "block the request instead: 'POST HOST/REPOSITORY.git/git-receive-pack'"};
}

base::Status add_rule(Arguments& arguments, const LiveRule& rule) {
    base::Result<std::string> found = key_for(rule);
    if (!found) return found.error();
    const std::string& key = *found;
    const config::Setting& setting = *config::find_setting(key);
    base::Result<std::string> text = config::canonical_text(setting, rule.target);
    if (!text) return text.error();
    config::Origin origin = config::from_flag(base::format("agent-sandbox {}", to_text(rule.kind)));
    config::Value& value = arguments.settings[key];
    if (value.items.empty()) value.origin = origin;
    value.items.push_back({*std::move(text), origin});
    return base::success();
}

bool is_same(const config::Value& left, config::Value right) {
    // Ports that were published while the session runs are in effect.
    std::erase_if(right.items,
                  [](const config::Item& item) { return item.origin.name == network::kPublishVerb; });
    return left.text == right.text &&
           std::ranges::equal(left.items, right.items, {}, &config::Item::text, &config::Item::text);
}

// What a session keeps of a credential: everything but its source.
std::vector<std::string> fixed_parts(const credentials::Credential& credential) {
    std::vector<std::string> parts = {credential.shape ? credential.shape->text() : "",
                                      credential.adds_always ? "always" : "swap"};
    for (const network::requests::HostPattern& host : credential.hosts) parts.push_back(host.text());
    for (const network::exchange::Put& put : credential.puts)
        parts.push_back(
            base::format("{} {} {} {}", static_cast<int>(put.kind), put.name, put.before, put.after));
    for (const network::exchange::BoundPath& path : credential.paths) parts.push_back(path.text);
    for (const std::vector<std::string>& list :
         {credential.methods, credential.variables, credential.files}) {
        parts.emplace_back();
        parts.insert(parts.end(), list.begin(), list.end());
    }
    for (const network::exchange::SignatureScope& scope : credential.scope) parts.push_back(scope.text());
    for (const auto& [name, text] : credential.fixed_variables)
        parts.push_back(base::format("{}={}", name, text));
    for (const credentials::FileField& field : credential.fields)
        parts.push_back(base::format("{} {} {} [{}] {} {}", static_cast<int>(field.kind),
                                     field.is_basic ? "basic" : "", base::join(field.keys, "."),
                                     field.section, field.key, field.pattern));
    return parts;
}

void add_changed_credentials(const Settings& before, const Settings& now, std::vector<std::string>& keys) {
    for (const credentials::Credential& one : before.credentials.credentials) {
        const std::vector<credentials::Credential>& all = now.credentials.credentials;
        auto same = std::ranges::find(all, one.name, &credentials::Credential::name);
        if (same != all.end() && fixed_parts(*same) != fixed_parts(one))
            keys.push_back("credential." + one.name);
    }
}

// Settings that have changed in the files and that a running session can't apply.
std::vector<std::string> needing_restart(const policy::Effective& before, const policy::Effective& now,
                                         bool reads_requests) {
    std::vector<std::string> keys;
    for (const config::Setting& setting : config::settings()) {
        bool is_about_requests = setting.key.starts_with("requests.");
        if (setting.is_dynamic && (reads_requests || !is_about_requests)) continue;
        auto earlier = before.values.find(setting.key);
        auto later = now.values.find(setting.key);
        bool is_known = earlier != before.values.end() && later != now.values.end();
        if (is_known && !is_same(earlier->second, later->second)) keys.emplace_back(setting.key);
    }
    return keys;
}

base::Error without_effect(const LiveRule& rule, const std::string& why, std::string advice,
                           std::string where) {
    std::string stays = rule.kind == LiveRule::Kind::allow ? " stays refused: " : " stays open: ";
    return {.what = rule.target + stays + why, .advice = std::move(advice), .where = std::move(where)};
}

base::Status check_request_effect(const network::requests::RequestRules& rules, const LiveRule& rule) {
    using network::requests::Decision;
    base::Result<network::requests::RequestRule> entry =
        network::requests::parse_request_rule(rule.target, network::requests::Side::allow);
    bool is_one = entry && entry->kind == network::requests::Kind::http && entry->methods.size() == 1 &&
                  !entry->host.is_wildcard && entry->path.stars() + entry->path.depths() == 0;
    if (!is_one) return base::success();
    const std::string target = rule.target.substr(rule.target.find('/'));
    network::requests::Verdict verdict = rules.judge({.host = entry->host.name,
                                                      .port = entry->host.port.value_or(443),
                                                      .method = entry->methods.front(),
                                                      .target = target});
    bool wants_open = rule.kind == LiveRule::Kind::allow;
    bool is_open = verdict.decision == Decision::permitted;
    if (is_open == wants_open || (verdict.decision == Decision::ask && !wants_open)) return base::success();
    std::string where = verdict.rule == nullptr ? "" : verdict.rule->origin.describe();
    std::string why = verdict.reason;
    if (why.empty())
        why = verdict.rule == nullptr ? "requests.observe lets it through"
                                      : base::format("the entry '{}' permits it", verdict.rule->described());
    return without_effect(rule, why, "", std::move(where));
}

// The first entry of requests.allow for a host closes the rest of it.
std::string note_about(const Planned& now, const LiveRule& rule) {
    if (rule.kind != LiveRule::Kind::allow || !is_about_requests(rule)) return {};
    base::Result<network::requests::RequestRule> entry =
        network::requests::parse_request_rule(rule.target, network::requests::Side::allow);
    if (!entry) return {};
    for (const config::Item& item : now.settings.policy.requests.allow) {
        base::Result<std::vector<network::requests::RequestRule>> others =
            network::requests::request_rules_of(item, network::requests::Side::allow);
        if (!others || item.text == rule.target) continue;
        for (const network::requests::RequestRule& other : *others) {
            if (other.host.text() == entry->host.text()) return {};
        }
    }
    return base::format("requests.allow names {} now, so other requests to it are refused",
                        entry->host.text());
}

// Report when another rule still decides against this one. A pattern can't be checked.
base::Status check_effect(const Planned& now, const LiveRule& rule) {
    const plan::Plan& plan = now.plan;
    if (rule.kind == LiveRule::Kind::publish) return base::success();
    if (is_about_requests(rule)) return check_request_effect(now.settings.credentials.rules, rule);
    bool wants_open = rule.kind == LiveRule::Kind::allow;
    base::Result<plan::Explanation> explained = plan::explain_host(plan, rule.target);
    if (!explained || explained->is_allowed == wants_open) return base::success();
    return without_effect(rule, explained->reason.why, explained->change,
                          explained->reason.origin.describe());
}

// Programs trust the session's certificates only if they were there at the start.
bool can_judge_requests(const Planned& planned) {
    return planned.certificates && planned.certificates->maker;
}

base::Status check_reads_requests(const Planned& planned, const LiveRule& rule) {
    if (!is_about_requests(rule) || can_judge_requests(planned)) return base::success();
    bool is_off = !planned.plan.broker.spec.is_empty();
    base::Result<std::string> key = key_for(rule);
    if (!key) return key.error();
    return base::Error{
        .what = is_off ? "this session does not decrypt connections, so it can't judge requests"
                       : "this session was started without rules about requests and without credentials, so "
                         "it can't judge requests",
        .advice = base::format("write {} = [\"{}\"] to your settings and start the session again", *key,
                               rule.target)};
}

}  // namespace

session::Replan replan_of(const Invocation& call, const std::string& session, const Planned& planned) {
    return [&call, session,
            &planned](const std::vector<LiveRule>& rules) -> base::Result<session::Replanned> {
        // Files may have changed since the start; read them again.
        Caller caller = call.caller;
        caller.disk = host::DiskTree();
        caller.is_planning_again = true;
        Arguments arguments = call.arguments;
        for (const LiveRule& rule : rules) {
            if (base::Status possible = check_reads_requests(planned, rule); !possible)
                return possible.error();
            if (base::Status added = add_rule(arguments, rule); !added) return added.error();
        }
        base::Result<Planned> now = make_plan(caller, arguments, session, arguments.words);
        if (!now) return now.error();
        if (!rules.empty()) {
            if (base::Status checked = check_effect(*now, rules.back()); !checked) return checked.error();
        }
        // Keep the mode of the existing network namespace.
        now->plan.network.egress.rules.mode = planned.plan.network.egress.rules.mode;
        const bool reads_requests = can_judge_requests(planned);
        session::Replanned replanned{
            .egress = now->plan.network.egress,
            .policy = plan::policy_digest(now->plan),
            .restart = needing_restart(planned.settings.effective, now->settings.effective, reads_requests),
            .note = rules.empty() ? "" : note_about(*now, rules.back()),
            .requests = {}};
        add_changed_credentials(planned.settings, now->settings, replanned.restart);
        if (reads_requests) {
            replanned.requests = {
                .settings =
                    network::requests::encode_settings(credentials::request_settings(now->settings.policy)),
                .names = planned.plan.broker.spec.certificate_names(now->settings.credentials.rules)};
        }
        return replanned;
    };
}

}  // namespace cli
