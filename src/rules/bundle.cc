// SPDX-License-Identifier: MIT
#include "rules/bundle.h"

#include <algorithm>
#include <optional>

#include "base/format.h"
#include "base/text.h"
#include "config/data.h"
#include "rules/names/name.h"

namespace network {
namespace {

using base::Error;
using base::Result;

struct Row {
    std::string_view entry;
    std::string_view reason;
};

std::optional<std::vector<Row>> rows_of(std::string_view bundle, const std::vector<Bundle>& found) {
    std::vector<Row> rows;
    if (auto own = std::ranges::find(found, bundle, &Bundle::name); own != found.end()) {
        for (const std::string& entry : own->entries)
            rows.push_back({entry, "named by the client's configuration"});
        return rows;
    }
    std::string list = "bundles/" + std::string(bundle);
    for (const config::DataRow& row : config::data_list(list)) rows.push_back({row.entry, row.reason});
    return rows.empty() ? std::nullopt : std::optional(std::move(rows));
}

Error unknown_bundle(std::string_view bundle, const std::vector<Bundle>& found) {
    std::vector<std::string_view> known;
    for (const config::DataRow& row : config::data_list("network/bundles")) known.push_back(row.entry);
    for (const Bundle& own : found) known.emplace_back(own.name);
    std::string meant = base::nearest(bundle, known);
    return Error{
        .what = "there is no bundle " + in_quotes("@" + std::string(bundle)),
        .advice = meant.empty() ? "name the hosts" : base::format("'@{}' was probably meant", meant)};
}

struct Expansion {
    Side side;
    const std::vector<Bundle>& found;
    std::vector<Rule> rules;

    // Bundles in bundles are few and shipped. The limit only stops a circular reference.
    base::Status add(std::string_view bundle, int depth = 0) {
        constexpr int kDeepest = 4;
        std::optional<std::vector<Row>> rows = depth < kDeepest ? rows_of(bundle, found) : std::nullopt;
        if (!rows) return unknown_bundle(bundle, found);
        for (const Row& row : *rows) {
            if (row.entry.starts_with('@')) {
                if (base::Status added = add(row.entry.substr(1), depth + 1); !added) return added;
                continue;
            }
            Result<Rule> rule = parse_rule(row.entry, side);
            if (!rule) return rule.error();
            rule->bundle = bundle;
            rule->reason = row.reason;
            rules.push_back(std::move(*rule));
        }
        return base::success();
    }
};

}  // namespace

Result<std::vector<Rule>> rules_of(const config::Item& item, Side side, const std::vector<Bundle>& found) {
    auto located = [&](Error error) {
        error.where = item.origin.describe();
        return error;
    };
    Expansion expansion{side, found, {}};
    if (item.text.starts_with('@')) {
        base::Status added = expansion.add(std::string_view(item.text).substr(1));
        if (!added) return located(added.error());
    } else {
        Result<Rule> rule = parse_rule(item.text, side);
        if (!rule) return located(rule.error());
        expansion.rules.push_back(std::move(*rule));
    }
    for (Rule& rule : expansion.rules) rule.origin = item.origin;
    return std::move(expansion.rules);
}

}  // namespace network
