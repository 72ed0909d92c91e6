// SPDX-License-Identifier: MIT
// `why path P`, `why env NAME`, `why host H`, `why syscall NAME`, `why slurm OPTION`, and those of
// why_requests.h: the verdict, the rule
// that decides and the smallest change that would allow it.
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/encoding/json.h"
#include "base/file.h"
#include "base/inside/addresses.h"
#include "base/inside/jail_files.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/verbs/gateway_client.h"
#include "cli/verbs/why_requests.h"
#include "cli/verbs/why_slurm.h"
#include "cli/verbs/why_ssh.h"
#include "credentials/advice.h"
#include "plan/print/explain.h"
#include "plan/print/summary.h"
#include "plan/rules.h"
#include "rules/engine.h"
#include "rules/rules_text.h"
#include "seccomp/filter.h"
#include "slurm/options/option.h"

namespace cli {
namespace {

// Inside a jail: asks the network gateway for its verdict on a host at this moment. The gateway has the
// answers and rules that were added since the session began; the jail's summary has only the rules of the
// start.

constexpr std::chrono::seconds kLongestWait{1};
constexpr std::string_view kWell = "HTTP/1.1 200 ";
constexpr std::string_view kEndOfAnswerHead = "\r\n\r\n";

// A URL path must not contain brackets; encode them.
std::string in_a_path(std::string_view text) {
    std::string path;
    for (char letter : text) {
        if (letter == '[') {
            path += "%5B";
        } else if (letter == ']') {
            path += "%5D";
        } else {
            path += letter;
        }
    }
    return path;
}

// Nothing if the gateway does not answer within a second. Call it only in a mode with a gateway: in other
// modes the address may belong to another machine.
std::optional<network::Verdict> ask_for_verdict(const network::Question& question) {
    std::string answer = ask_gateway(
        base::format("GET /why/{} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
                     in_a_path(network::to_text(question)), base::v4_text(base::FixedAddress::gateway)),
        kLongestWait);
    size_t body = answer.find(kEndOfAnswerHead);
    if (!answer.starts_with(kWell) || body == std::string::npos) return std::nullopt;
    base::Result<base::Json> said =
        base::Json::parse(std::string_view(answer).substr(body + kEndOfAnswerHead.size()));
    if (!said || !said->is_object()) return std::nullopt;
    std::string decision = said->text("decision");
    network::Verdict verdict{.rule = said->text("rule"),
                             .origin = {.name = said->text("origin")},
                             .reason = said->text("reason"),
                             .change = said->text("change")};
    if (said->truth("allowed")) verdict.decision = network::Decision::allow;
    if (decision == network::to_text(network::Decision::ask)) verdict.decision = network::Decision::ask;
    verdict.is_observed = decision == "observed";
    return verdict;
}

// Inside a jail, `why path` compares the rules with the current file system: a name may appear after the
// start and be covered a moment later, or not at all.

// An empty file covers a file, and an empty tmpfs covers a directory.
bool shows_content(const base::Path& path, bool closed_by_rule) {
    base::Fd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat status;
    if (!fd || ::fstat(fd.get(), &status) != 0) return false;
    if (S_ISREG(status.st_mode)) return status.st_size > 0;
    struct statfs system;
    bool is_hosts = S_ISDIR(status.st_mode) && closed_by_rule && ::fstatfs(fd.get(), &system) == 0 &&
                    system.f_type != TMPFS_MAGIC;
    bool has_entry = false;
    if (is_hosts) base::visit_entries(fd.get(), [&](const struct dirent64&) { return !(has_entry = true); });
    return has_entry;
}

// The guard mounts the null device over a file.
bool is_null_device(const base::Path& path) {
    struct stat status;
    bool is_device = ::lstat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode);
    return is_device && status.st_rdev == makedev(1, 3) && path.str() != "/dev/null";
}

// Changes a verdict that is wrong at this moment. `closed_by_rule`: a rule for the path hides or masks it.
void correct_by_looking(plan::Explanation& explanation, const base::Path& path, bool to_write,
                        bool closed_by_rule) {
    if (!explanation.is_allowed && !to_write && shows_content(path, closed_by_rule)) {
        explanation.verdict = "readable at this moment";
        explanation.is_allowed = true;
        explanation.reason.why += "; it appeared after the start of the session and is not covered yet";
        explanation.change.clear();
    } else if (explanation.is_allowed && is_null_device(path)) {
        explanation.verdict = "reads as empty";
        explanation.is_allowed = false;
        explanation.reason = {"project.mask: it was covered after the start of the session", {}};
        explanation.change = "project.unmask";
    } else if (explanation.is_allowed && to_write && ::access(path.c_str(), W_OK) != 0 && errno == EROFS) {
        explanation.verdict = "readable";
        explanation.is_allowed = false;
        explanation.reason = {"it was made read-only after the start of the session", {}};
        explanation.change.clear();
    }
}

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
    if (target->planned) {
        for (const config::Item& pattern : target->planned->settings.policy.credentials.never_inside) {
            if (!policy::matches_variable_pattern(pattern.text, name)) continue;
            explanation.reason = {"credentials.never_inside has " + pattern.text, pattern.origin};
            std::string preset = credentials::preset_for(name);
            explanation.change = preset.empty() ? "" : "--credential " + preset;
        }
    }
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
                ask_for_verdict(plan::question_for_rules(target->plan, *question)))
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
    slurm::add_spank_options(target->plan.slurm.spank_options);
    return explain_slurm(target->plan.slurm, std::span(call.arguments.words).subspan(1));
}

struct Subject {
    std::string_view word;
    Answer (*explain)(const Invocation&, const std::string&);
    size_t words = 2;  // with its own
};
Answer why_request(const Invocation& call, const std::string& /*word*/) {
    return explain_request(call);
}
Answer why_push(const Invocation& call, const std::string& /*word*/) {
    return explain_push(call);
}
Answer why_credential(const Invocation& call, const std::string& /*word*/) {
    return explain_credential(call);
}
Answer why_ssh(const Invocation& call, const std::string& target) {
    base::Result<PlanToExplain> explained = plan_to_explain(call.caller, call.arguments);
    if (!explained) return explained.error();
    return explain_ssh(explained->plan, target);
}

constexpr Subject kSubjects[] = {
    {"path", why_path},    {"env", why_env},
    {"host", why_host},    {"syscall", why_syscall},
    {"slurm", why_slurm},  {"request", why_request, 3},
    {"push", why_push, 3}, {"credential", why_credential},
    {"ssh", why_ssh},
};

}  // namespace

int why_verb(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    bool is_of_slurm = words.size() == 3 && words[0] == "slurm";
    const Subject* subject = std::end(kSubjects);
    if (words.size() >= 2) subject = std::ranges::find(kSubjects, words[0], &Subject::word);
    bool is_known = subject != std::end(kSubjects) && (words.size() == subject->words || is_of_slurm);
    if (!is_known || words[1].empty()) {
        return call.output.fail({.what = "why needs a path, a variable, a host, a request, a push, a "
                                         "credential, an ssh login, a system call or "
                                         "an option of Slurm to explain",
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
