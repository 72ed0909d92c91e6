// SPDX-License-Identifier: MIT
#include "network/exchange/binding.h"
#include "network/exchange/spec.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"

namespace network::exchange {

base::Result<BoundPath> parse_bound_path(std::string_view text) {
    BoundPath bound{.host = {}, .path = {}, .text = std::string(text)};
    size_t slash = text.find('/');
    if (slash == std::string_view::npos) {
        return base::Error{.what = base::format("'{}' names no path", base::printable(text)),
                           .advice = "write HOST/PATH or /PATH, with ** for any depth"};
    }
    if (slash > 0) {
        base::Result<requests::HostPattern> host = requests::parse_host_pattern(text.substr(0, slash));
        if (!host) return host.error();
        bound.host = *std::move(host);
    }
    base::Result<requests::PathPattern> path = requests::PathPattern::parse(text.substr(slash));
    if (!path) return path.error();
    bound.path = *std::move(path);
    return bound;
}

base::Result<Issuer> parse_issuer(std::string_view text) {
    const base::Error fault{
        .what = base::format("'{}' is not a request whose answer has a token", base::printable(text)),
        .advice = "write POST HOST/PATH FIELD"};
    size_t blank = text.rfind(' ');
    if (blank == std::string_view::npos || blank + 1 == text.size()) return fault;
    base::Result<requests::RequestRule> rule =
        requests::parse_request_rule(text.substr(0, blank), requests::Side::allow);
    if (!rule) return rule.error();
    bool is_plain = rule->kind == requests::Kind::http && rule->methods == std::vector<std::string>{"POST"} &&
                    !rule->host.is_wildcard && rule->path.stars() == 0 && rule->path.depths() == 0;
    if (!is_plain) return fault;
    return Issuer{*std::move(rule), std::string(text.substr(blank + 1))};
}

std::string_view Binding::mark() const {
    std::string_view text = placeholder;
    return has_claims ? text.substr(text.rfind('.') + 1) : text;
}

std::string_view Binding::placeholder_in(std::string_view text) const {
    size_t at = has_claims ? text.find(mark()) : std::string_view::npos;
    if (at == std::string_view::npos) return placeholder;
    auto is_of_token = [](char letter) {
        return base::is_letter(letter) || base::is_digit(letter) || letter == '-' || letter == '_' ||
               letter == '.';
    };
    size_t start = at;
    while (start > 0 && is_of_token(text[start - 1])) --start;
    return text.substr(start, at - start + mark().size());
}

std::string Binding::placeholder_for(std::string_view value) const {
    size_t last = value.rfind('.');
    bool is_token = has_claims && last != std::string_view::npos && value.find('.') != last;
    return is_token ? std::string(value.substr(0, last + 1)).append(mark()) : placeholder;
}

bool Binding::is_for(std::string_view host, uint16_t port) const {
    return std::ranges::any_of(
        hosts, [&](const requests::HostPattern& pattern) { return pattern.matches(host, port); });
}

bool Binding::permits(std::string_view host, uint16_t port, std::string_view method,
                      const requests::CanonicalPath& path) const {
    if (!methods.empty() && std::ranges::find(methods, method) == methods.end()) return false;
    return paths.empty() || std::ranges::any_of(paths, [&](const BoundPath& bound) {
               return (!bound.host || bound.host->matches(host, port)) && bound.path.matches(path.segments);
           });
}

std::vector<std::string> BrokerSpec::certificate_names(const requests::RequestRules& rules) const {
    std::vector<std::string> names;
    for (const Binding& binding : bindings) {
        for (const requests::HostPattern& host : binding.hosts) names.push_back(host.name);
    }
    for (const requests::HostPattern& host : rules.hosts()) names.push_back(host.name);
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    return names;
}

}  // namespace network::exchange
