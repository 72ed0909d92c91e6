// SPDX-License-Identifier: MIT
#include "credentials/advice.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/parse.h"
#include "base/path.h"
#include "base/secret_value.h"
#include "base/text.h"
#include "policy/entry_match.h"

namespace credentials {
namespace {

using base::Error;
using base::Result;
using config::Item;
using network::requests::RequestRule;
using network::requests::Side;
using Environment = std::span<const std::string>;

std::string_view name_of(const Item& item) {
    return std::string_view(item.text).substr(0, item.text.find('='));
}

std::string brokered(std::string_view variable) {
    std::string preset = preset_for(variable);
    if (!preset.empty()) return base::format("use --credential {}: the gateway puts the value in", preset);
    return base::format("define [credential.NAME] with variable = \"{}\" and use --credential NAME",
                        variable);
}

// Nothing if the variable is not set.
std::optional<std::string_view> value_in(Environment environment, std::string_view name) {
    for (std::string_view entry : environment) {
        if (entry.starts_with(name) && entry.substr(name.size()).starts_with('='))
            return entry.substr(name.size() + 1);
    }
    return std::nullopt;
}

// "ANTHROPIC" of ANTHROPIC_AUTH_TOKEN. Agents have names of their own for the keys of their provider.
std::string_view provider_of(std::string_view variable) {
    constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
        {"CLAUDE", "ANTHROPIC"}, {"CODEX", "OPENAI"}, {"GOOGLE", "GEMINI"}};
    std::string_view first = variable.substr(0, variable.find('_'));
    const auto* other = std::ranges::find(kOtherNames, first, [](const auto& pair) { return pair.first; });
    return other == std::end(kOtherNames) ? first : other->second;
}

const Credential* of_same_provider(const Resolved& resolved, std::string_view variable) {
    for (const Credential& credential : resolved.credentials) {
        auto is_same = [&](const std::string& own) { return provider_of(own) == provider_of(variable); };
        if (std::ranges::any_of(credential.variables, is_same)) return &credential;
    }
    return nullptr;
}

const Credential* with_source_variable(const Resolved& resolved, std::string_view variable) {
    auto is_source = [&](const Credential& credential) {
        return credential.source.kind == Source::Kind::variable && credential.source.text == variable;
    };
    auto found = std::ranges::find_if(resolved.credentials, is_source);
    return found == resolved.credentials.end() ? nullptr : &*found;
}

// The credential whose value in the launching shell is this one, or null.
const Credential* with_value(const Resolved& resolved, Environment environment, std::string_view value) {
    if (value.size() < base::SecretValue::kMinimum) return nullptr;
    for (const Credential& credential : resolved.credentials) {
        auto has_value = [&](const std::string& name) { return value_in(environment, name) == value; };
        bool is_source =
            credential.source.kind == Source::Kind::variable && has_value(credential.source.text);
        if (is_source || std::ranges::any_of(credential.variables, has_value)) return &credential;
    }
    return nullptr;
}

std::string stays_outside(std::string_view variable, const Credential& credential, std::string_view why) {
    return base::format("{} stays outside: {} the credential {} ({})", variable, why, credential.name,
                        credential.use_origin.describe());
}

// An error, or whether the entry stays.
Result<bool> settle(const Resolved& resolved, Environment environment, const policy::Policy& policy,
                    const Item& item, std::vector<std::string>& lines) {
    std::string_view variable = name_of(item);
    bool is_profiles = item.origin.layer == config::Layer::profile;
    if (const Credential* owner = with_source_variable(resolved, variable)) {
        if (is_profiles) return false;
        return Error{.what = base::format("{} is the source of the credential {}, and can't pass into a jail",
                                          variable, owner->name),
                     .advice = base::format("remove {} here, or {} in {}", variable, owner->name,
                                            owner->use_origin.describe()),
                     .where = item.origin.describe()};
    }
    if (const Credential* owner = resolved.owner_of(variable)) {
        if (is_profiles) return false;
        return Error{.what = base::format("{} holds the placeholder of the credential {}, and can't pass too",
                                          variable, owner->name),
                     .advice = base::format("remove {} here, or {} in {}", variable, owner->name,
                                            owner->use_origin.describe()),
                     .where = item.origin.describe()};
    }
    for (const Item& pattern : policy.credentials.never_inside) {
        if (!policy::matches_variable_pattern(pattern.text, variable)) continue;
        if (is_profiles) return false;
        return Error{
            .what = base::format("{} must not be inside a jail: credentials.never_inside has {} ({})",
                                 variable, pattern.text, pattern.origin.describe()),
            .advice = brokered(variable),
            .where = item.origin.describe()};
    }
    size_t equals = item.text.find('=');
    std::optional<std::string_view> value = equals == std::string::npos
                                                ? value_in(environment, variable)
                                                : std::string_view(item.text).substr(equals + 1);
    const Credential* same = value ? with_value(resolved, environment, *value) : nullptr;
    if (same != nullptr) {
        lines.push_back(stays_outside(variable, *same, "it has the value of"));
        return false;
    }
    // An agent would use it instead of the placeholder. What the user asked for passes.
    const Credential* related = is_profiles ? of_same_provider(resolved, variable) : nullptr;
    if (related == nullptr) return true;
    if (value) lines.push_back(stays_outside(variable, *related, "the agent uses"));
    return false;
}

void block_variables(const Resolved& resolved, Environment environment, policy::Items& block) {
    for (const Credential& credential : resolved.credentials) {
        for (const std::string& variable : credential.variables)
            block.push_back({variable, credential.use_origin});
        if (credential.source.kind == Source::Kind::variable)
            block.push_back({credential.source.text, credential.use_origin});
    }
    for (std::string_view entry : environment) {
        size_t equals = entry.find('=');
        if (equals == std::string_view::npos) continue;
        if (const Credential* same = with_value(resolved, environment, entry.substr(equals + 1)))
            block.push_back({std::string(entry.substr(0, equals)), same->use_origin});
    }
}

// One segment against another: "a*" and "*b" may both match "ab".
bool segments_overlap(std::string_view left, std::string_view right) {
    bool left_varies = left.find('*') != std::string_view::npos;
    bool right_varies = right.find('*') != std::string_view::npos;
    if (left_varies && right_varies) return true;
    if (left_varies) return base::matches_name(left, right, true);
    if (right_varies) return base::matches_name(right, left, true);
    return base::equals_ignoring_case(left, right);
}

using Segments = std::span<const std::string_view>;

bool overlap(Segments left, Segments right) {
    if (left.empty() && right.empty()) return true;
    if (!left.empty() && left.front() == "**")
        return overlap(left.subspan(1), right) || (!right.empty() && overlap(left, right.subspan(1)));
    if (!right.empty() && right.front() == "**") return overlap(right, left);
    if (left.empty() || right.empty()) return false;
    return segments_overlap(left.front(), right.front()) && overlap(left.subspan(1), right.subspan(1));
}

std::string_view path_of(const RequestRule& rule) {
    size_t slash = rule.text.find('/');
    return std::string_view(rule.text).substr(slash);
}

bool share_a_method(const RequestRule& left, const RequestRule& right) {
    if (left.methods.empty() || right.methods.empty()) return true;
    return std::ranges::any_of(left.methods, [&](const std::string& method) {
        return std::ranges::find(right.methods, method) != right.methods.end();
    });
}

bool share_a_host(const RequestRule& left, const RequestRule& right) {
    auto takes = [](const RequestRule& outer, const RequestRule& inner) {
        return outer.host.matches(inner.host.name, inner.host.port.value_or(outer.host.port.value_or(443)));
    };
    return left.host.name == right.host.name || takes(left, right) || takes(right, left);
}

Result<std::vector<RequestRule>> rules_of(const policy::Items& items, Side side) {
    std::vector<RequestRule> rules;
    for (const Item& item : items) {
        Result<std::vector<RequestRule>> some = network::requests::request_rules_of(item, side);
        if (!some) return some.error();
        std::ranges::move(*some, std::back_inserter(rules));
    }
    return rules;
}

// github.com has no interface beside git's: that is at api.github.com.
constexpr std::string_view kGitAlone = "github.com";

// A host may take commits over HTTP too, which entries of requests.git do not judge.
Result<std::vector<std::string>> hosts_that_pushes_leave_open(
    const policy::Policy& policy, const std::vector<std::vector<RequestRule>>& requests) {
    std::vector<std::string> lines, told = {std::string(kGitAlone)};
    for (const Item& item : policy.requests.git) {
        Result<RequestRule> push = network::requests::parse_git_rule(item.text);
        if (!push) return push.error();
        const std::string& host = push->host.name;
        bool is_judged = std::ranges::any_of(requests, [&](const std::vector<RequestRule>& rules) {
            return std::ranges::any_of(rules,
                                       [&](const RequestRule& rule) { return share_a_host(rule, *push); });
        });
        bool is_push = push->kind == network::requests::Kind::push;
        if (!is_push || is_judged || std::ranges::find(told, host) != told.end()) continue;
        told.push_back(host);
        lines.push_back(base::format(
            "{}: requests.git judges pushes to {}, and every other request there is permitted, also one that "
            "commits; add 'GET {}/**' to requests.allow",
            item.origin.describe(), host, host));
    }
    return lines;
}

}  // namespace

std::string preset_for(std::string_view variable) {
    for (const std::string& name : preset_names()) {
        Result<config::Values> values = preset_values(name);
        if (!values) continue;
        auto variables = values->find("variable");
        if (variables == values->end()) continue;
        std::vector<std::string_view> words = base::split(variables->second.text, ' ');
        if (std::ranges::find(words, variable) != words.end()) return name;
    }
    return "";
}

Result<std::vector<std::string>> settle_variables(const Resolved& resolved, Environment environment,
                                                  policy::Policy& policy) {
    std::vector<std::string> lines;
    if (resolved.credentials.empty() && policy.credentials.never_inside.empty()) return lines;
    for (policy::Items* items : {&policy.env.allow, &policy.env.set}) {
        policy::Items kept;
        for (Item& item : *items) {
            Result<bool> stays = settle(resolved, environment, policy, item, lines);
            if (!stays) return stays.error();
            if (*stays) {
                kept.push_back(std::move(item));
            } else {
                policy.env.block.push_back({std::string(name_of(item)), item.origin});
            }
        }
        *items = std::move(kept);
    }
    // They must not pass in env.mode = "inherit" either.
    for (const Item& pattern : policy.credentials.never_inside) policy.env.block_patterns.push_back(pattern);
    block_variables(resolved, environment, policy.env.block);
    return lines;
}

bool paths_overlap(std::string_view left, std::string_view right) {
    auto segments = [](std::string_view path) {
        while (path.starts_with('/')) path.remove_prefix(1);
        return base::split(path, '/');
    };
    return overlap(segments(left), segments(right));
}

Result<std::vector<std::string>> weakened_rules(const policy::Policy& policy) {
    std::vector<std::string> lines;
    const bool has_rules = !policy.requests.allow.empty() || !policy.requests.block.empty() ||
                           !policy.requests.ask.empty() || !policy.requests.git.empty();
    if (has_rules && policy.network.are_literals_open)
        lines.push_back(
            base::format("{}: network.literals = \"allow\" opens connections that name no host, and a server "
                         "can serve any "
                         "of its hosts there; rules about requests do not judge them",
                         policy.network.literals_origin.describe()));
    Result<std::vector<RequestRule>> blocks = rules_of(policy.requests.block, Side::block);
    if (!blocks) return blocks.error();
    Result<std::vector<RequestRule>> allows = rules_of(policy.requests.allow, Side::allow);
    if (!allows) return allows.error();
    for (const RequestRule& allow : *allows) {
        if (allow.side != Side::allow || allow.kind != network::requests::Kind::http) continue;
        // One line for each pair of an entry and a list is enough.
        std::string told;
        for (const RequestRule& block : *blocks) {
            // The administrator's entries hold in any case.
            bool is_lifted = block.kind == network::requests::Kind::http && !block.list.empty() &&
                             block.origin.layer != config::Layer::admin && block.list != told &&
                             allow.specificity() > block.specificity() && share_a_host(allow, block) &&
                             share_a_method(allow, block) && paths_overlap(path_of(allow), path_of(block));
            if (!is_lifted) continue;
            told = block.list;
            lines.push_back(base::format(
                "{}: requests.allow entry '{}' is more specific than '{}' of @{} ({}) and permits it; write "
                "the paths that you need",
                allow.origin.describe(), base::printable(allow.text), block.text, block.list, block.reason));
        }
    }
    Result<std::vector<RequestRule>> asks = rules_of(policy.requests.ask, Side::ask);
    if (!asks) return asks.error();
    Result<std::vector<std::string>> open = hosts_that_pushes_leave_open(policy, {*allows, *blocks, *asks});
    if (!open) return open.error();
    std::ranges::move(*open, std::back_inserter(lines));
    return lines;
}

}  // namespace credentials
