// SPDX-License-Identifier: MIT
#include "network/requests/rules.h"

#include <algorithm>
#include <iterator>

#include "base/parse.h"
#include "base/path.h"
#include "base/text.h"
#include "rules/names/name.h"

namespace network::requests {
namespace {

using base::Result;

// With '-' for '_'.
constexpr std::string_view kOverrides[] = {
    "x-http-method-override", "x-http-method",     "x-method-override",
    "x-forwarded-method",     "x-original-method", "-method",
};

bool is_administrators(const RequestRule& rule) {
    return rule.origin.layer == config::Layer::admin;
}

// Whether `rule` decides before `other` if both match.
bool decides_before(const RequestRule& rule, const RequestRule& other) {
    Specificity own = rule.specificity(), others = other.specificity();
    if (own != others) return own > others;
    if (rule.side != other.side) return rule.side > other.side;
    return is_administrators(rule) && !is_administrators(other);
}

// A project's file may only add restrictions, and an entry of `ask` can be more specific than a block.
bool is_projects_ask(const RequestRule& rule) {
    return rule.side == Side::ask && rule.origin.layer == config::Layer::project;
}

int strictness(Decision decision) {
    switch (decision) {
        case Decision::permitted:
            return 0;
        case Decision::ask:
            return 1;
        case Decision::refused:
            return 2;
    }
    return 2;
}

Verdict refused(std::string reason, std::string change = "") {
    return {.decision = Decision::refused,
            .is_judged = true,
            .code = "request_refused",
            .reason = std::move(reason),
            .change = std::move(change)};
}

// "POST api.example.org/user/keys", without the query.
std::string described(const Request& request, const CanonicalPath& path) {
    std::string host = request.port == 443 || request.port == 80
                           ? std::string(request.host)
                           : base::with_port(request.host, request.port);
    return base::format("{} {}{}", base::printable(request.method), host, base::printable(path.path));
}

std::string joined(const std::vector<std::string>& segments) {
    return base::join(segments, "/");
}

// The command that permits a request. The client chose the method: one of other characters than those of the
// registered methods could be a word that `allow` understands differently.
std::string change_for(const std::string& what) {
    std::string_view method = std::string_view(what).substr(0, what.find(' '));
    auto is_capital = [](char character) { return character >= 'A' && character <= 'Z'; };
    bool is_method = !method.empty() && is_capital(method.front()) &&
                     std::ranges::all_of(method, [&](char c) { return is_capital(c) || c == '-'; });
    return is_method ? base::format("agent-sandbox allow {}", base::shell_word(what)) : "";
}

Verdict by_rule(const RequestRule& rule, const std::string& what) {
    Verdict verdict{.is_judged = true, .rule = &rule};
    if (rule.side == Side::allow) return verdict;
    verdict.decision = rule.side == Side::ask ? Decision::ask : Decision::refused;
    verdict.code = "request_refused";
    std::string_view side = rule.side == Side::ask ? "asks about" : "refuses";
    verdict.reason = base::format("the entry '{}' {} {}", rule.described(), side, what);
    if (!rule.reason.empty()) verdict.reason += ": " + rule.reason;
    verdict.change = change_for(what);
    return verdict;
}

std::string_view word_for(PushCommand::Change change) {
    switch (change) {
        case PushCommand::Change::create:
            return "create";
        case PushCommand::Change::update:
            return "update";
        case PushCommand::Change::remove:
            return "delete";
    }
    return "";
}

bool may_have_body(const Request& request) {
    constexpr std::string_view kWithout[] = {"GET", "HEAD", "OPTIONS", "DELETE"};
    return request.has_body || std::ranges::find(kWithout, request.method) == std::end(kWithout);
}

bool permits(const RequestRule& rule, const PushCommand& command) {
    if (!base::matches_path(rule.refs, command.ref)) return false;
    switch (command.change) {
        case PushCommand::Change::create:
            return rule.may_create;
        case PushCommand::Change::update:
            return rule.may_update;
        case PushCommand::Change::remove:
            return rule.may_delete;
    }
    return false;
}

}  // namespace

std::string_view override_fault(const Request& request, std::string_view query) {
    constexpr std::string_view kFault = "the request overrides its method by another one";
    for (std::string_view value : request.overrides) {
        if (!base::equals_ignoring_case(base::trim(value), request.method)) return kFault;
    }
    for (std::string_view pair : base::split(query, '&')) {
        size_t equals = std::min(pair.find('='), pair.size());
        if (!is_method_override(base::percent_decoded(pair.substr(0, equals)))) continue;
        std::string value = base::percent_decoded(pair.substr(std::min(equals + 1, pair.size())));
        if (!base::equals_ignoring_case(value, request.method)) return kFault;
    }
    return {};
}

bool is_method_override(std::string_view name) {
    // A server that hands fields on as variables, as CGI does, takes both signs as one.
    auto is_same = [](char sent, char own) {
        return (sent == '_' ? '-' : base::lower(sent)) == base::lower(own);
    };
    return std::ranges::any_of(kOverrides,
                               [&](std::string_view own) { return std::ranges::equal(name, own, is_same); });
}

Result<RequestRules> RequestRules::make(const RequestSettings& settings) {
    RequestRules made;
    made.observe_ = settings.observe;
    struct List {
        const std::vector<config::Item>& items;
        Side side;
    };
    for (const List& list : {List{settings.allow, Side::allow}, List{settings.ask, Side::ask},
                             List{settings.block, Side::block}}) {
        for (const config::Item& item : list.items) {
            Result<std::vector<RequestRule>> rules = request_rules_of(item, list.side);
            if (!rules) return rules.error();
            std::ranges::move(*rules, std::back_inserter(made.rules_));
        }
    }
    for (const config::Item& item : settings.git) {
        Result<RequestRule> rule = git_rule_of(item);
        if (!rule) return rule.error();
        made.rules_.push_back(*std::move(rule));
    }
    for (const config::Item& item : settings.opaque) {
        Result<HostPattern> host = parse_host_pattern(item.text);
        if (!host) {
            base::Error error = host.error();
            error.where = item.origin.describe();
            return error;
        }
        bool is_admins = item.origin.layer == config::Layer::admin;
        (is_admins ? made.administrators_opaque_ : made.opaque_).push_back(*std::move(host));
    }
    return made;
}

bool RequestRules::is_opaque(std::string_view host, uint16_t port) const {
    auto matches = [&](const HostPattern& pattern) { return pattern.matches(host, port); };
    if (std::ranges::any_of(administrators_opaque_, matches)) return true;
    bool is_admins_host = std::ranges::any_of(rules_, [&](const RequestRule& rule) {
        return is_administrators(rule) && rule.host.matches(host, port);
    });
    return !is_admins_host && std::ranges::any_of(opaque_, matches);
}

bool RequestRules::names(std::string_view host, uint16_t port) const {
    bool is_named =
        std::ranges::any_of(rules_, [&](const RequestRule& rule) { return rule.host.matches(host, port); });
    return is_named && !is_opaque(host, port);
}

std::vector<HostPattern> RequestRules::hosts() const {
    std::vector<HostPattern> hosts;
    for (const RequestRule& rule : rules_) {
        bool is_known = std::ranges::any_of(
            hosts, [&](const HostPattern& host) { return host.text() == rule.host.text(); });
        if (!is_known) hosts.push_back(rule.host);
    }
    return hosts;
}

bool RequestRules::is_about(const RequestRule& rule, const Subject& subject) const {
    if (subject.scope == Scope::administrator && !is_administrators(rule)) return false;
    if (subject.scope == Scope::without_project && is_projects_ask(rule)) return false;
    return rule.host.matches(subject.request.host, subject.request.port);
}

template <typename Match>
const RequestRule* RequestRules::find(const Subject& subject, Match matches) const {
    const RequestRule* best = nullptr;
    for (const RequestRule& rule : rules_) {
        if (!is_about(rule, subject) || !matches(rule)) continue;
        if (best == nullptr || decides_before(rule, *best)) best = &rule;
    }
    return best;
}

bool RequestRules::has(const Subject& subject, Kind kind) const {
    return std::ranges::any_of(
        rules_, [&](const RequestRule& rule) { return rule.kind == kind && is_about(rule, subject); });
}

bool RequestRules::is_allow_list(const Subject& subject) const {
    return std::ranges::any_of(rules_, [&](const RequestRule& rule) {
        bool is_request = rule.kind == Kind::http || rule.kind == Kind::graphql;
        return is_request && rule.side == Side::allow && is_about(rule, subject);
    });
}

// By the entries about methods and paths.
Verdict RequestRules::judge_path(const Subject& subject) const {
    const Request& request = subject.request;
    // Some servers answer /user/keys.json and "/user/keys " as /user/keys.
    const CanonicalPath plain = without_ending(subject.path);
    const RequestRule* rule = find(subject, [&](const RequestRule& candidate) {
        if (candidate.kind != Kind::http) return false;
        return candidate.matches(request.method, subject.path) ||
               (candidate.side != Side::allow && candidate.matches(request.method, plain));
    });
    if (rule != nullptr && rule->side == Side::allow) return {.is_judged = true, .rule = rule};
    if (rule == nullptr && !is_allow_list(subject)) return {.is_judged = true};
    std::string what = described(request, subject.path);
    if (rule != nullptr) return by_rule(*rule, what);
    return refused(base::format("no entry of requests.allow permits {}", what), change_for(what));
}

Verdict RequestRules::judge_git(const Subject& subject) const {
    const std::vector<std::string>& repository = subject.git.repository;
    GitService service = subject.git.service;
    bool is_lfs = service == GitService::lfs || service == GitService::lfs_batch;
    bool changes = subject.request.method != "GET" && subject.request.method != "HEAD";
    bool waits_for_body =
        service == GitService::lfs_batch && subject.request.method == "POST" && !subject.uploads;
    bool is_push = service == GitService::push || service == GitService::push_refs ||
                   (is_lfs && !waits_for_body && subject.uploads.value_or(changes));
    Kind kind = is_push ? Kind::push : Kind::fetch;
    const RequestRule* rule = find(subject, [&](const RequestRule& candidate) {
        bool is_meant = candidate.kind == kind || (waits_for_body && candidate.kind == Kind::push);
        return is_meant && candidate.path.matches(repository);
    });
    Verdict verdict{.is_judged = true, .rule = rule};
    if (rule == nullptr || service == GitService::unknown) {
        std::string_view verb = is_push ? "push to" : "fetch from";
        std::string place = base::format("{}/{}", subject.request.host, base::printable(joined(repository)));
        verdict = refused(base::format("no entry of requests.git permits to {} {}", verb, place),
                          is_push ? base::format("add \"push {} refs/heads/NAME\" to requests.git", place)
                                  : base::format("agent-sandbox allow {}",
                                                 base::shell_word(base::format("fetch {}", place))));
    } else if (service == GitService::push) {
        verdict.need = Need::push_commands;
    } else if (waits_for_body) {
        verdict.need = Need::lfs_batch;
    }
    // git-LFS prints the message of an ordinary refusal.
    if (!is_lfs) verdict.git = service;
    // The path was judged before the body was read.
    if (subject.uploads) return verdict;
    // Entries that permit paths do not count here, those that refuse do.
    const RequestRule* path_rule = find(subject, [&](const RequestRule& candidate) {
        return candidate.kind == Kind::http && candidate.side != Side::allow &&
               candidate.matches(subject.request.method, subject.path);
    });
    if (path_rule == nullptr || verdict.decision == Decision::refused) return verdict;
    Verdict by_path = by_rule(*path_rule, described(subject.request, subject.path));
    by_path.git = verdict.git;
    by_path.need = verdict.need;
    return by_path;
}

Verdict RequestRules::judge_field(const Subject& subject, const RootField& field) const {
    const RequestRule* rule = find(subject, [&](const RequestRule& candidate) {
        if (candidate.kind != Kind::graphql || candidate.operation != field.operation) return false;
        if (!candidate.matches(subject.request.method, subject.path)) return false;
        return candidate.field.empty() || base::matches_name(candidate.field, field.name);
    });
    // A field that is named decides before every field.
    const RequestRule* named = find(subject, [&](const RequestRule& candidate) {
        return candidate.kind == Kind::graphql && candidate.operation == field.operation &&
               candidate.field == field.name && candidate.matches(subject.request.method, subject.path);
    });
    if (named != nullptr) rule = named;
    if (rule == nullptr) return judge_path(subject);
    std::string what = base::format("graphql {} {} {}{}", to_text(field.operation), field.name,
                                    subject.request.host, base::printable(subject.path.path));
    return by_rule(*rule, what);
}

Verdict RequestRules::judge_in(const Subject& subject) const {
    bool has_git = has(subject, Kind::fetch) || has(subject, Kind::push);
    bool has_graphql = has(subject, Kind::graphql);
    if (subject.request.is_websocket && (has_git || has_graphql)) {
        const RequestRule* rule = find(subject, [&](const RequestRule& candidate) {
            return candidate.kind == Kind::http && candidate.side == Side::allow &&
                   candidate.matches(subject.request.method, subject.path);
        });
        if (rule == nullptr)
            return refused("a WebSocket on a host with rules about bodies needs an entry of requests.allow",
                           change_for(described(subject.request, subject.path)));
    }
    if (has_git && hides_git(subject.path))
        return refused("servers differ in which request of git this path is, because of its %2F");
    if (has_git && subject.git.service != GitService::none) return judge_git(subject);
    if (has_graphql) {
        bool is_place = false, is_here = false, is_guarded = false;
        CanonicalPath plain = without_ending(subject.path);
        for (const RequestRule& rule : rules_) {
            if (rule.kind != Kind::graphql || !is_about(rule, subject)) continue;
            is_place |= rule.path.matches_any_spelling(subject.path);
            is_here |= rule.matches(subject.request.method, subject.path);
            is_guarded |= rule.side != Side::allow && (rule.path.matches_any_spelling(subject.path) ||
                                                       rule.path.matches_any_spelling(plain));
        }
        // Some servers prefer a document in the query to the one in the body.
        if ((is_here || is_place || is_guarded) && !subject.path.query.empty())
            return refused("GraphQL is judged in the body of a POST, not in a query");
        if (is_here) return {.need = Need::graphql, .is_judged = true};
        if (is_guarded && may_have_body(subject.request))
            return refused("GraphQL is judged in the body of a POST to the path of its entry alone");
    }
    return judge_path(subject);
}

Verdict RequestRules::finish(const Verdict& all, const Verdict& administrator) const {
    if (strictness(administrator.decision) >= strictness(all.decision) &&
        administrator.decision != Decision::permitted) {
        Verdict verdict = administrator;
        if (verdict.need == Need::nothing) verdict.need = all.need;
        return verdict;
    }
    Verdict verdict = all;
    if (verdict.need == Need::nothing) verdict.need = administrator.need;
    if (verdict.decision == Decision::permitted || !observe_) return verdict;
    verdict.decision = Decision::permitted;
    verdict.is_observed = true;
    return verdict;
}

// Threat: a jail writes an entry of `ask` into the project's file that is more specific than the user's
// block, and the user is trained to approve (tests/requests/judge_test.cc).
template <typename Judge>
Verdict RequestRules::in_every_scope(Subject& subject, Judge judge) const {
    subject.scope = Scope::all;
    Verdict all = judge();
    if (std::ranges::any_of(rules_, is_projects_ask)) {
        subject.scope = Scope::without_project;
        Verdict own = judge();
        if (own.need == Need::nothing) own.need = all.need;
        if (strictness(own.decision) > strictness(all.decision)) all = std::move(own);
    }
    subject.scope = Scope::administrator;
    return finish(all, judge());
}

Verdict RequestRules::judge(const Request& request) const {
    if (base::equals_ignoring_case(request.method, "TRACE") ||
        base::equals_ignoring_case(request.method, "CONNECT"))
        return refused(base::format("{} is always refused", request.method));
    if (!names(request.host, request.port)) return {};
    Subject subject{.request = request};
    if (std::string_view fault = read_target(request.target, subject.path); !fault.empty()) {
        Verdict verdict = refused(std::string(fault));
        verdict.status = 400;
        verdict.code = "path_not_canonical";
        return verdict;
    }
    if (std::string_view fault = override_fault(request, subject.path.query); !fault.empty())
        return refused(std::string(fault));
    subject.git = git_target(subject.path);
    return in_every_scope(subject, [&] { return judge_in(subject); });
}

std::string RequestRules::push_reason(const Subject& subject, const PushCommand& command) const {
    std::vector<std::string> permitted;
    for (const RequestRule& rule : rules_) {
        if (rule.kind != Kind::push || !is_about(rule, subject)) continue;
        if (!rule.path.matches(subject.git.repository)) continue;
        if (permits(rule, command)) return "";
        if (std::ranges::find(permitted, rule.refs) == permitted.end()) permitted.push_back(rule.refs);
    }
    bool has_ref = std::ranges::any_of(
        permitted, [&](const std::string& refs) { return base::matches_path(refs, command.ref); });
    if (has_ref) return base::format("no entry permits to {} this ref", word_for(command.change));
    return base::format("only {} may be pushed", base::join(permitted, ", "));
}

PushVerdict RequestRules::judge_push(const Request& request, const std::vector<PushCommand>& commands) const {
    PushVerdict push;
    Subject subject{.request = request};
    if (!read_target(request.target, subject.path).empty()) {
        push.verdict = judge(request);
        return push;
    }
    subject.git = git_target(subject.path);
    Subject ceiling = subject;
    ceiling.scope = Scope::administrator;
    bool has_ceiling = has(ceiling, Kind::push) || has(ceiling, Kind::fetch);
    bool is_observable = true;
    for (const PushCommand& command : commands) {
        std::string reason = has_ceiling ? push_reason(ceiling, command) : "";
        is_observable &= reason.empty();
        if (reason.empty()) reason = push_reason(subject, command);
        push.reasons.push_back(reason);
    }
    auto first =
        std::ranges::find_if(push.reasons, [](const std::string& reason) { return !reason.empty(); });
    push.verdict = {.is_judged = true, .git = GitService::push};
    if (first == push.reasons.end()) return push;
    const PushCommand& command = commands[static_cast<size_t>(first - push.reasons.begin())];
    std::string place = base::format("{}/{}", request.host, base::printable(joined(subject.git.repository)));
    Verdict refusal = refused(
        base::format("the push of {} to {} is refused: {}", base::printable(command.ref), place, *first),
        base::format("agent-sandbox allow {}",
                     base::shell_word(base::format("push {} {}", place, base::printable(command.ref)))));
    refusal.git = GitService::push;
    push.verdict = refusal;
    if (observe_ && is_observable) {
        push.verdict.decision = Decision::permitted;
        push.verdict.is_observed = true;
    }
    return push;
}

Verdict RequestRules::judge_lfs(const Request& request, bool is_upload) const {
    Subject subject{.request = request};
    if (!read_target(request.target, subject.path).empty()) return judge(request);
    subject.git = git_target(subject.path);
    subject.uploads = is_upload;
    return in_every_scope(subject, [&] {
        bool has_git = has(subject, Kind::fetch) || has(subject, Kind::push);
        return has_git ? judge_git(subject) : Verdict{.is_judged = true};
    });
}

Verdict RequestRules::judge_graphql(const Request& request, const std::vector<RootField>& fields) const {
    Subject subject{.request = request};
    if (fields.empty() || !read_target(request.target, subject.path).empty())
        return refused("the GraphQL request has no root field");
    Verdict result{.is_judged = true};
    for (const RootField& field : fields) {
        Verdict verdict = in_every_scope(subject, [&] { return judge_field(subject, field); });
        int stricter = strictness(verdict.decision) - strictness(result.decision);
        if (stricter > 0 || (stricter == 0 && result.rule == nullptr)) result = verdict;
    }
    return result;
}

}  // namespace network::requests
