// SPDX-License-Identifier: MIT
#include "network/requests/rule.h"

#include <algorithm>

#include "base/parse.h"
#include "base/path.h"
#include "base/text.h"
#include "config/data.h"
#include "rules/names/name.h"

namespace network::requests {
namespace {

using base::Error;
using base::Result;
using base::Status;

constexpr size_t kMaximumEntry = 2048;
constexpr int kAnyMethod = 1000;
constexpr std::string_view kForm = "write it like GET,HEAD api.example.org/repos/me/**";
constexpr std::string_view kGitForm =
    "write it like fetch github.com/** or push github.com/me/app refs/heads/agent/*";
constexpr std::string_view kGraphqlForm =
    "write it like graphql query HOST/PATH or graphql mutation FIELD HOST/PATH";

Error refusal(std::string_view text, std::string_view why, std::string_view advice = kForm) {
    return Error{.what = base::format("{} is not a request rule: {}", in_quotes(text), why),
                 .advice = std::string(advice)};
}

// Words between single blanks. Two blanks in a row give an empty word, which every reader below refuses.
std::vector<std::string_view> words_of(std::string_view text) {
    return base::split(text, ' ');
}

// "HOST[:PORT]/PATH"
Status read_place(std::string_view text, RequestRule& rule) {
    if (text.find("://") != std::string_view::npos)
        return Error{.what = "it names a scheme", .advice = "leave https:// out"};
    size_t slash = text.find('/');
    if (slash == std::string_view::npos) {
        return Error{.what = "it names no path",
                     .advice = base::format("write {}/** for every path", base::printable(text))};
    }
    Result<HostPattern> host = parse_host_pattern(text.substr(0, slash));
    if (!host) return host.error();
    Result<PathPattern> path = PathPattern::parse(text.substr(slash));
    if (!path) return path.error();
    rule.host = *std::move(host);
    rule.path = *std::move(path);
    return base::success();
}

Status read_methods(std::string_view text, RequestRule& rule) {
    if (text == "*") return base::success();
    for (std::string_view method : base::split(text, ',')) {
        bool is_method = !method.empty() && std::ranges::all_of(method, [](char letter) {
            return base::is_token_character(letter) && base::upper(letter) == letter && letter != '*';
        });
        if (!is_method)
            return Error{.what = base::format("{} is not a method in upper case", in_quotes(method)),
                         .advice = std::string(kForm)};
        if (method == "TRACE" || method == "CONNECT")
            return Error{.what = base::format("{} is always refused", method), .advice = "remove it"};
        if (std::ranges::find(rule.methods, method) != rule.methods.end())
            return Error{.what = base::format("{} stands there twice", method), .advice = "remove one"};
        rule.methods.emplace_back(method);
    }
    return base::success();
}

bool is_field_pattern(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char letter) {
        return base::is_name_character(letter) || letter == '*';
    });
}

Status read_graphql(const std::vector<std::string_view>& words, RequestRule& rule) {
    constexpr Operation kOperations[] = {Operation::query, Operation::mutation, Operation::subscription};
    rule.kind = Kind::graphql;
    rule.methods = {"POST"};
    if (words.size() != 3 && words.size() != 4)
        return Error{.what = "it has not two or three words after 'graphql'",
                     .advice = std::string(kGraphqlForm)};
    const auto* found =
        std::ranges::find(kOperations, words[1], [](Operation operation) { return to_text(operation); });
    if (found == std::end(kOperations))
        return Error{.what = base::format("{} is not query, mutation or subscription", in_quotes(words[1])),
                     .advice = std::string(kGraphqlForm)};
    rule.operation = *found;
    if (words.size() == 4) {
        if (!is_field_pattern(words[2]))
            return Error{.what = base::format("{} is not the name of a field", in_quotes(words[2])),
                         .advice = std::string(kGraphqlForm)};
        rule.field = words[2];
    }
    return read_place(words.back(), rule);
}

// "push PLACE REFS [create] [update] [delete]"
Status read_push(const std::vector<std::string_view>& words, RequestRule& rule) {
    if (words.size() < 3)
        return Error{.what = "it names no refs", .advice = "add a pattern like refs/heads/agent/*"};
    std::string_view refs = words[2];
    if (!refs.starts_with("refs/") && refs != "**")
        return Error{.what = base::format("{} does not start with refs/", in_quotes(refs)),
                     .advice = "write refs/heads/NAME for a branch, refs/tags/NAME for a tag"};
    rule.refs = refs;
    if (words.size() == 3) return base::success();
    rule.may_create = rule.may_update = rule.may_delete = false;
    for (std::string_view change : std::vector(words.begin() + 3, words.end())) {
        bool* flag = change == "create"   ? &rule.may_create
                     : change == "update" ? &rule.may_update
                     : change == "delete" ? &rule.may_delete
                                          : nullptr;
        if (flag == nullptr || *flag)
            return Error{
                .what = base::format("{} is not create, update or delete, each once", in_quotes(change)),
                .advice = std::string(kGitForm)};
        *flag = true;
    }
    return base::success();
}

Error located(Error error, const config::Origin& origin) {
    error.where = origin.describe();
    return error;
}

Error unknown_list(std::string_view list) {
    std::vector<std::string_view> known;
    for (const config::DataRow& row : config::data_list("network/request_lists")) known.push_back(row.entry);
    std::string meant = base::nearest(list, known);
    return Error{
        .what = base::format("there is no list of requests {}", in_quotes("@" + std::string(list))),
        .advice = meant.empty() ? "write the requests" : base::format("'@{}' was probably meant", meant)};
}

Result<std::vector<RequestRule>> rules_of_list(std::string_view list, Side side) {
    constexpr std::string_view kBlock = "block ";
    std::span<const config::DataRow> rows = config::data_list("requests/" + std::string(list));
    if (rows.empty()) return unknown_list(list);
    std::vector<RequestRule> rules;
    for (const config::DataRow& row : rows) {
        bool is_block = row.entry.starts_with(kBlock);
        if (is_block && side != Side::allow) {
            return Error{
                .what = base::format("@{} is a list of requests to permit", list),
                .advice = base::format("name it in requests.allow, not in requests.{}", to_text(side))};
        }
        std::string_view entry = is_block ? row.entry.substr(kBlock.size()) : row.entry;
        Result<RequestRule> rule = parse_request_rule(entry, is_block ? Side::block : side);
        if (!rule) return rule.error();
        rule->list = list;
        rule->reason = row.reason;
        rules.push_back(*std::move(rule));
    }
    return rules;
}

}  // namespace

std::string_view to_text(Side side) {
    switch (side) {
        case Side::allow:
            return "allow";
        case Side::ask:
            return "ask";
        case Side::block:
            return "block";
    }
    return "";
}

std::string_view to_text(Operation operation) {
    switch (operation) {
        case Operation::query:
            return "query";
        case Operation::mutation:
            return "mutation";
        case Operation::subscription:
            return "subscription";
    }
    return "";
}

bool HostPattern::matches(std::string_view host, uint16_t to_port) const {
    if (port && *port != to_port) return false;
    if (!is_wildcard) return host == name;
    return host.size() > name.size() + 1 && host.ends_with(name) &&
           host[host.size() - name.size() - 1] == '.';
}

std::string HostPattern::text() const {
    std::string text = is_wildcard ? "*." + name : name;
    return port ? base::with_port(text, *port) : text;
}

Result<HostPattern> parse_host_pattern(std::string_view text) {
    HostPattern pattern;
    std::string_view host = text;
    if (std::optional<size_t> colon = base::find_port_colon(text)) {
        pattern.port = base::parse_port(text.substr(*colon + 1));
        if (!pattern.port)
            return Error{.what = base::format("{} has no port from 1 to 65535 after ':'", in_quotes(text)),
                         .advice = "write HOST or HOST:PORT"};
        host = text.substr(0, *colon);
    }
    if (host == "*") return Error{.what = "'*' is every host", .advice = "name the hosts, or *.example.org"};
    pattern.is_wildcard = host.starts_with("*.");
    if (pattern.is_wildcard) host.remove_prefix(2);
    Result<HostName> name = HostName::parse(host);
    if (!name) return name.error();
    if (pattern.is_wildcard && is_public_suffix(name->str()))
        return Error{.what = base::format("any person can register a name below {}", name->str()),
                     .advice = "name the hosts"};
    pattern.name = name->str();
    return pattern;
}

bool RequestRule::matches(std::string_view method, const CanonicalPath& to) const {
    bool is_loose = side != Side::allow;
    bool has_method = methods.empty() || std::ranges::any_of(methods, [&](const std::string& own) {
                          return is_loose ? base::equals_ignoring_case(own, method) : own == method;
                      });
    if (!has_method) return false;
    return is_loose ? path.matches_any_spelling(to) : path.matches(to.segments);
}

Specificity RequestRule::specificity() const {
    return {.is_exact_host = !host.is_wildcard,
            .host_length = host.is_wildcard ? host.name.size() : 0,
            .has_port = host.port.has_value(),
            .literals = path.literals(),
            .stars = path.stars(),
            .negative_depths = -path.depths(),
            .negative_methods = methods.empty() ? -kAnyMethod : -static_cast<int>(methods.size())};
}

std::string RequestRule::described() const {
    return list.empty() ? text : base::format("@{}: {}", list, text);
}

Result<RequestRule> parse_request_rule(std::string_view text, Side side) {
    if (text.size() > kMaximumEntry) return refusal(text, "it is longer than 2,048 bytes");
    RequestRule rule{.side = side, .text = std::string(text)};
    std::vector<std::string_view> words = words_of(text);
    Status read = base::success();
    if (words.front() == "graphql") {
        read = read_graphql(words, rule);
    } else if (words.front() == "fetch" || words.front() == "push") {
        read = Error{.what = "it is about git", .advice = "write it in requests.git"};
    } else if (words.size() != 2) {
        read =
            Error{.what = "it is not methods, a blank, and a host with a path", .advice = std::string(kForm)};
    } else {
        read = read_methods(words[0], rule);
        if (read) read = read_place(words[1], rule);
    }
    if (!read) return refusal(text, read.error().what, read.error().advice);
    return rule;
}

Result<RequestRule> parse_git_rule(std::string_view text) {
    if (text.size() > kMaximumEntry) return refusal(text, "it is longer than 2,048 bytes", kGitForm);
    RequestRule rule{.side = Side::allow, .text = std::string(text)};
    std::vector<std::string_view> words = words_of(text);
    bool is_push = words.front() == "push";
    if ((!is_push && words.front() != "fetch") || words.size() < 2 || (!is_push && words.size() > 2))
        return refusal(text, "it is not 'fetch HOST/REPOSITORY' or 'push HOST/REPOSITORY REFS'", kGitForm);
    rule.kind = is_push ? Kind::push : Kind::fetch;
    std::string_view place = words[1];
    if (place.ends_with(".git")) place.remove_suffix(4);
    Status read = read_place(place, rule);
    if (read && is_push) read = read_push(words, rule);
    if (!read) return refusal(text, read.error().what, read.error().advice);
    return rule;
}

Result<std::vector<RequestRule>> request_rules_of(const config::Item& item, Side side) {
    Result<std::vector<RequestRule>> rules = std::vector<RequestRule>();
    if (item.text.starts_with('@')) {
        rules = rules_of_list(std::string_view(item.text).substr(1), side);
    } else {
        Result<RequestRule> rule = parse_request_rule(item.text, side);
        if (!rule) return located(rule.error(), item.origin);
        rules->push_back(*std::move(rule));
    }
    if (!rules) return located(rules.error(), item.origin);
    for (RequestRule& rule : *rules) rule.origin = item.origin;
    return rules;
}

Result<RequestRule> git_rule_of(const config::Item& item) {
    Result<RequestRule> rule = parse_git_rule(item.text);
    if (!rule) return located(rule.error(), item.origin);
    rule->origin = item.origin;
    return rule;
}

}  // namespace network::requests
