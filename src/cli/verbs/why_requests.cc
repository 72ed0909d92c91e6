// SPDX-License-Identifier: MIT
#include "cli/verbs/why_requests.h"

#include <algorithm>

#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/parse.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "credentials/resolve.h"
#include "network/requests/rules.h"
#include "plan/print/summary.h"

namespace cli {
namespace {

using base::Error;
using base::Result;
using credentials::Credential;
using network::requests::Decision;
using network::requests::Need;
using network::requests::Request;
using network::requests::RequestRules;
using network::requests::Verdict;

Error usage_error(std::string what, std::string advice) {
    return Error{.what = std::move(what), .advice = std::move(advice), .exit_code = base::ExitCode::usage};
}

// The rules and credentials of a start here or, inside a jail, those that it was started with.
struct Known {
    credentials::Resolved resolved;
    policy::Items git;
    config::Origin git_origin;
    std::optional<policy::Layers> layers;  // empty inside a jail
};

Result<Credential> credential_of(const plan::UsedCredential& used) {
    Credential credential;
    credential.name = used.name;
    credential.title = used.title;
    credential.methods = used.methods;
    credential.variables = used.variables;
    credential.use_origin = used.origin;
    for (const std::string& text : used.hosts) {
        Result<network::requests::HostPattern> host = network::requests::parse_host_pattern(text);
        if (!host) return host.error();
        credential.hosts.push_back(*std::move(host));
    }
    for (const std::string& text : used.paths) {
        Result<network::exchange::BoundPath> path = network::exchange::parse_bound_path(text);
        if (!path) return path.error();
        credential.paths.push_back(*std::move(path));
    }
    return credential;
}

Result<Known> known_inside(const std::string& summary) {
    Result<std::string> text = base::read_file(summary);
    if (!text) return text.error();
    Result<plan::Plan> plan = plan::decode_summary(*text);
    if (!plan) return plan.error();
    const plan::Broker& broker = plan->broker;
    Known known{.resolved = {}, .git = broker.spec.requests.git, .git_origin = {}, .layers = {}};
    Result<RequestRules> rules = RequestRules::make(broker.spec.requests);
    if (!rules) return rules.error();
    known.resolved.rules = *std::move(rules);
    for (const plan::UsedCredential& used : broker.credentials) {
        Result<Credential> credential = credential_of(used);
        if (!credential) return credential.error();
        known.resolved.credentials.push_back(*std::move(credential));
    }
    return known;
}

Result<Known> find_known(const Invocation& call) {
    const std::string summary = base::own_path(base::kSummary);
    if (base::file_exists(summary)) return known_inside(summary);
    Result<Settings> settings = load_settings(call.caller, call.arguments);
    if (!settings) return settings.error();
    return Known{.resolved = std::move(settings->credentials),
                 .git = settings->policy.requests.git,
                 .git_origin = settings->effective.origin("requests.git"),
                 .layers = std::move(settings->layers)};
}

struct Target {
    std::string host;
    uint16_t port = 443;
    std::string path;

    std::string place() const { return port == 443 ? host : base::with_port(host, port); }
};

// "https://api.example.org/v1?x=1" or "api.example.org/v1".
Result<Target> parse_target(std::string_view text) {
    Target target;
    bool is_plain = text.starts_with("http://");
    size_t scheme = text.find("://");
    if (scheme != std::string_view::npos) text.remove_prefix(scheme + 3);
    size_t slash = std::min(text.find('/'), text.size());
    Result<network::requests::HostPattern> host =
        network::requests::parse_host_pattern(text.substr(0, slash));
    if (!host) return usage_error(host.error().what, "write it like api.example.org/v1/models");
    if (host->is_wildcard) return usage_error("a request goes to one host", "leave out the *");
    target.host = host->name;
    target.port = host->port.value_or(is_plain ? 80 : 443);
    target.path = slash == text.size() ? "/" : std::string(text.substr(slash));
    return target;
}

std::string_view word_for(const Verdict& verdict) {
    if (!verdict.is_judged) return "not judged";
    if (verdict.is_observed) return "permitted (observed)";
    switch (verdict.decision) {
        case Decision::permitted:
            return "permitted";
        case Decision::ask:
            return "asks";
        case Decision::refused:
            return "refused";
    }
    return "";
}

// The reason, the rule and the change, without the credentials.
plan::Explanation explained(std::string subject, const Verdict& verdict, std::string entry) {
    plan::Explanation explanation{.subject = std::move(subject),
                                  .is_allowed = verdict.decision == Decision::permitted,
                                  .verdict = std::string(word_for(verdict))};
    explanation.reason.why = verdict.reason;
    if (verdict.rule != nullptr) {
        explanation.reason.origin = verdict.rule->origin;
        if (verdict.reason.empty())
            explanation.reason.why = base::format("the entry '{}'", verdict.rule->described());
    }
    if (!verdict.is_judged) explanation.reason.why = "no entry of [requests] names the host";
    bool is_the_administrators =
        verdict.rule != nullptr && verdict.rule->origin.layer == config::Layer::admin;
    if (!explanation.is_allowed && !is_the_administrators && !verdict.change.empty())
        explanation.change = std::move(entry);
    return explanation;
}

// Which credentials the gateway would put in.
std::string credentials_for(const std::vector<Credential>& credentials, const Target& target,
                            std::string_view method) {
    std::string text;
    network::requests::CanonicalPath path;
    if (!network::requests::read_target(target.path, path).empty()) return text;
    for (const Credential& credential : credentials) {
        network::exchange::Binding binding = credential.binding("");
        if (!binding.is_for(target.host, target.port)) continue;
        bool is_within = binding.permits(target.host, target.port, method, path);
        text += base::format("; the credential {} is {}", credential.name,
                             is_within ? "for this request" : "not for this path or method");
    }
    return text;
}

bool has_rule_for(const RequestRules& rules, const Target& target) {
    return rules.names(target.host, target.port) && !rules.is_opaque(target.host, target.port);
}

// The entry of requests.git that permits this push by itself, or null.
const config::Item* deciding_push(const policy::Items& entries, const Request& request,
                                  const std::string& ref) {
    for (const config::Item& entry : entries) {
        Result<RequestRules> rules = RequestRules::make({.git = {entry}});
        if (!rules || !rules->names(request.host, request.port)) continue;
        network::requests::PushVerdict push = rules->judge_push(request, {{.ref = ref}});
        bool is_permitted = push.verdict.decision == Decision::permitted &&
                            (push.reasons.empty() || push.reasons.front().empty());
        if (is_permitted) return &entry;
    }
    return nullptr;
}

}  // namespace

Result<plan::Explanation> explain_request(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    if (words.size() != 3)
        return usage_error("why request needs a method and a URL", "why request POST api.github.com/gists");
    std::string method = base::upper(words[1]);
    Result<Target> target = parse_target(words[2]);
    if (!target) return target.error();
    Result<Known> known = find_known(call);
    if (!known) return known.error();
    const credentials::Resolved& resolved = known->resolved;
    const Request request{
        .host = target->host, .port = target->port, .method = method, .target = target->path};
    std::string path = target->path.substr(0, target->path.find('?'));
    std::string subject = base::format("{} {}{}", method, target->place(), path);
    Verdict verdict;
    if (has_rule_for(resolved.rules, *target)) verdict = resolved.rules.judge(request);
    plan::Explanation explanation =
        explained(subject, verdict, base::format("requests.allow = [\"{}\"]", subject));
    if (resolved.rules.is_opaque(target->host, target->port))
        explanation.reason.why = "requests.opaque names the host: its connections are not decrypted";
    if (verdict.need == Need::push_commands) explanation.reason.why += "; the refs decide: ask 'why push'";
    if (verdict.need == Need::lfs_batch)
        explanation.reason.why += "; its body decides: an upload is a push, a download is a fetch";
    if (verdict.need == Need::graphql) explanation.reason.why += "; the fields of its body decide";
    if (explanation.is_allowed || verdict.decision == Decision::ask)
        explanation.reason.why += credentials_for(resolved.credentials, *target, method);
    return explanation;
}

Result<plan::Explanation> explain_push(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    if (words.size() != 3)
        return usage_error("why push needs a repository and a ref",
                           "why push github.com/me/app refs/heads/main");
    Result<Target> target = parse_target(words[1]);
    if (!target) return target.error();
    std::string ref = words[2].starts_with("refs/") ? words[2] : "refs/heads/" + words[2];
    std::string repository = target->path;
    if (repository.ends_with(".git")) repository.resize(repository.size() - 4);
    Result<Known> known = find_known(call);
    if (!known) return known.error();
    const credentials::Resolved& resolved = known->resolved;
    target->path = repository + ".git/git-receive-pack";
    const Request request{
        .host = target->host, .port = target->port, .method = "POST", .target = target->path};
    std::string place = target->place() + repository;
    std::string entry = base::format("requests.git = [\"push {} {}\"]", place, ref);
    std::string subject = base::format("push {} {}", place, ref);
    Verdict verdict;
    if (has_rule_for(resolved.rules, *target)) verdict = resolved.rules.judge(request);
    network::requests::PushVerdict push;
    if (verdict.decision != Decision::refused && verdict.need == Need::push_commands) {
        push = resolved.rules.judge_push(request, {{.ref = ref}});
        verdict = std::move(push.verdict);
        if (!push.reasons.empty() && !push.reasons.front().empty()) {
            verdict.decision = Decision::refused;
            verdict.reason = push.reasons.front();
        }
    }
    plan::Explanation explanation = explained(std::move(subject), verdict, entry);
    if (verdict.is_judged && verdict.rule == nullptr) {
        const config::Item* deciding = deciding_push(known->git, request, ref);
        if (deciding != nullptr)
            explanation.reason = {base::format("the entry '{}'", deciding->text), deciding->origin};
        if (deciding == nullptr) explanation.reason.origin = known->git_origin;
    }
    if (verdict.git == network::requests::GitService::push)
        explanation.reason.why += "; an upload of git-LFS is a push to the repository, to any ref";
    bool is_the_administrators =
        verdict.rule != nullptr && verdict.rule->origin.layer == config::Layer::admin;
    if (!explanation.is_allowed && !is_the_administrators) explanation.change = std::move(entry);
    if (explanation.is_allowed)
        explanation.reason.why += credentials_for(resolved.credentials, *target, "POST");
    return explanation;
}

Result<plan::Explanation> explain_credential(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    if (words.size() != 2) return usage_error("why credential needs a name", "why credential github");
    const std::string& name = words[1];
    Result<Known> known = find_known(call);
    if (!known) return known.error();
    const std::vector<Credential>& used = known->resolved.credentials;
    auto found = std::ranges::find(used, name, &Credential::name);
    if (found == used.end() && !known->layers) {
        return plan::Explanation{.subject = name,
                                 .is_allowed = false,
                                 .verdict = "not used",
                                 .reason = {.why = "this session was started without it", .origin = {}},
                                 .change = base::format("start the session with --credential {}", name)};
    }
    Result<Credential> credential = found != used.end()
                                        ? Result<Credential>(*found)
                                        : credentials::resolve_one(*known->layers, name, config::Origin());
    if (!credential) {
        Error error = credential.error();
        error.exit_code = base::ExitCode::usage;
        error.where.clear();
        return error;
    }
    std::vector<std::string> hosts;
    for (const auto& host : credential->hosts) hosts.push_back(host.text());
    plan::Explanation explanation{.subject = name, .is_allowed = found != used.end()};
    explanation.verdict = explanation.is_allowed ? "used" : "not used";
    explanation.reason.why =
        base::format("{} gets its value from {}, for {}", credential->title,
                     known->layers ? credential->source.describe() : "a source outside of the jail",
                     base::join(hosts, ", "));
    if (!credential->variables.empty())
        explanation.reason.why +=
            base::format("; the placeholder is in {}", base::join(credential->variables, " and "));
    explanation.reason.origin = explanation.is_allowed ? credential->use_origin : credential->origin;
    if (!explanation.is_allowed)
        explanation.change = base::format("--credential {}, or credentials.use = [\"{}\"]", name, name);
    return explanation;
}

}  // namespace cli
