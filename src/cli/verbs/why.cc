// SPDX-License-Identifier: MIT
// `why path P`, `why env NAME`, `why host H`, `why syscall NAME`, `why slurm OPTION`: the verdict, the rule
// that decides and the smallest change that would allow it.
#include <algorithm>
#include <optional>
#include <span>

#include "base/file.h"
#include "base/format.h"
#include "base/inside/paths_inside.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/ask_gateway.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/report/look_inside.h"
#include "cli/verbs.h"
#include "cli/verbs/why_slurm.h"
#include "plan/print/explain.h"
#include "plan/print/summary.h"
#include "plan/rules.h"
#include "rules/text/question_text.h"
#include "seccomp/explain.h"

namespace cli {
namespace {

using Answer = base::Result<plan::Explanation>;

// The plan to explain: that of a command that would start here or, inside a jail, the jail's own plan.
struct PlanToExplain {
    plan::Plan plan;
    base::Path home;
    std::optional<Planned> planned;  // empty inside a jail
};

base::Result<PlanToExplain> plan_to_explain(const Caller& caller, const Arguments& arguments) {
    std::string summary = base::own_path(base::kSummary);
    if (base::file_exists(summary)) {
        base::Result<std::string> text = base::read_file(summary);
        if (!text) return text.error();
        base::Result<plan::Plan> plan = plan::decode_summary(*text);
        if (!plan) return plan.error();
        PlanToExplain target{.plan = *std::move(plan)};
        for (const plan::Variable& variable : target.plan.environment.passed) {
            if (variable.name == "HOME") target.home = base::Path::known(variable.value);
        }
        return target;
    }
    base::Result<Planned> planned = make_plan(caller, arguments, "", {});
    if (!planned) return planned.error();
    PlanToExplain target{.planned = *std::move(planned)};
    target.plan = target.planned->plan;
    target.home = target.planned->facts.identity.home;
    return target;
}

Answer why_path(const Invocation& call, const std::string& text) {
    base::Result<PlanToExplain> target = plan_to_explain(call.caller, call.arguments);
    if (!target) return target.error();
    base::Result<base::Path> path = path_from(text, target->home, call.caller.working_directory);
    if (!path) return path.error();
    bool to_write = call.arguments.has_own("--write");
    plan::Explanation explanation = plan::explain_path(target->plan, call.caller.disk, *path, to_write);
    if (target->plan.is_seen_from_inside) {
        const plan::PathRule* rule = plan::deciding_rule(target->plan.rules, *path);
        bool is_closed = rule != nullptr && rule->access < plan::Access::readonly;
        correct_by_looking(explanation, *path, to_write, is_closed);
    }
    return explanation;
}

// A variable that is not set is judged as if it were set, because users ask before setting it.
Answer why_env(const Invocation& call, const std::string& name) {
    if (base::file_exists(base::own_path(base::kSummary))) {
        base::Result<PlanToExplain> target = plan_to_explain(call.caller, call.arguments);
        if (!target) return target.error();
        return plan::explain_variable(target->plan, name);
    }
    Caller caller = call.caller;
    bool is_set = std::ranges::any_of(caller.environment, [&](std::string_view variable) {
        return variable.starts_with(name) && variable.substr(name.size()).starts_with('=');
    });
    // Names with our own prefix are settings or have no meaning, so they are not judged if unset.
    bool is_judged = !is_set && !name.starts_with("AGENT_SANDBOX");
    if (is_judged) caller.environment.push_back(name + "=");
    base::Result<PlanToExplain> target = plan_to_explain(caller, call.arguments);
    if (!target) return target.error();
    plan::Explanation explanation = plan::explain_variable(target->plan, name);
    if (is_judged) explanation.reason.why += " (it is not set here; this would hold if it were)";
    return explanation;
}

Answer why_host(const Invocation& call, const std::string& host) {
    base::Result<PlanToExplain> target = plan_to_explain(call.caller, call.arguments);
    if (!target) return target.error();
    // Only these modes have a gateway. It has the changes since the start of the jail.
    policy::NetworkMode mode = target->plan.network.reached;
    bool has_gateway = mode == policy::NetworkMode::filtered || mode == policy::NetworkMode::proxied;
    base::Result<network::Question> question = network::parse_question(host);
    if (target->plan.is_seen_from_inside && has_gateway && question) {
        if (std::optional<network::Verdict> verdict =
                ask_gateway(plan::question_for_rules(target->plan, *question)))
            return plan::explain_verdict(target->plan, *question, *std::move(verdict));
    }
    return plan::explain_host(target->plan, host);
}

Answer why_syscall(const Invocation& call, const std::string& name) {
    base::Result<PlanToExplain> target = plan_to_explain(call.caller, call.arguments);
    if (!target) return target.error();
    seccomp::FilterResult result = seccomp::explain(name, target->plan.system_calls);
    // A script must not take a misspelt name for an answer.
    if (!result.is_known)
        return base::Error{.what = base::format("'{}': {}", base::printable(name), result.why),
                           .advice = {},
                           .where = {},
                           .exit_code = base::ExitCode::usage};
    plan::Explanation explanation{.subject = name,
                                  .is_allowed = result.is_allowed,
                                  .verdict = std::move(result.summary),
                                  .reason = {.why = std::move(result.why)}};
    if (result.setting.empty()) return explanation;
    if (target->planned) {
        explanation.reason.origin = target->planned->settings.effective.origin(result.setting);
    }
    bool is_the_administrators = explanation.reason.origin.layer == config::Layer::admin;
    if (!result.is_allowed && !is_the_administrators)
        explanation.change = base::format("{} = true", result.setting);
    return explanation;
}

Answer why_slurm(const Invocation& call, const std::string& /*word*/) {
    base::Result<PlanToExplain> target = plan_to_explain(call.caller, call.arguments);
    if (!target) return target.error();
    return explain_slurm(target->plan.slurm, std::span(call.arguments.words).subspan(1));
}

struct Subject {
    std::string_view word;
    Answer (*explain)(const Invocation&, const std::string&);
};
constexpr Subject kSubjects[] = {
    {"path", why_path}, {"env", why_env}, {"host", why_host}, {"syscall", why_syscall}, {"slurm", why_slurm}};

}  // namespace

int why_verb(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    bool is_of_slurm = words.size() == 3 && words[0] == "slurm";
    const Subject* subject = words.size() == 2 || is_of_slurm
                                 ? std::ranges::find(kSubjects, words[0], &Subject::word)
                                 : std::end(kSubjects);
    if (subject == std::end(kSubjects) || words[1].empty()) {
        return call.output.fail(
            {.what = "why needs a path, a variable, a host, a system call or an option of Slurm to explain",
             .advice = usage_of("why"),
             .exit_code = base::ExitCode::usage});
    }
    Answer answer = subject->explain(call, words[1]);
    if (!answer) return call.output.fail(answer.error());
    std::string text = call.arguments.wants_json ? plan::to_json(*answer).dump() + "\n"
                                                 : plan::to_text(*answer, call.output.colours_results());
    return call.output.result(text, answer->is_allowed ? 0 : kFailed);
}

}  // namespace cli
