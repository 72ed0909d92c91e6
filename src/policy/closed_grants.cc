// SPDX-License-Identifier: MIT
#include "policy/closed_grants.h"

#include <algorithm>
#include <optional>

#include "base/format.h"
#include "base/glob.h"
#include "base/text.h"
#include "config/data.h"
#include "policy/entry_match.h"
#include "policy/merge.h"

namespace policy {
namespace {

using config::Item;
using config::Values;
using Outcome = ClosedGrant::Outcome;

enum class Comparison { same_text, in_project, same_rule, same_path, below, device, variable_pattern };

// An entry of `grants` that an entry of `closes` covers has no effect, or only the effect of `instead`.
struct Pair {
    std::string_view grants;
    std::string_view closes;
    Comparison comparison;
    std::string_view instead = {};  // the list that the entry moves to
};

constexpr Pair kPairs[] = {
    // Between equal rules the block wins. A narrower allow is an exception from the block.
    {"network.allow", "network.block", Comparison::same_rule},
    {"project.unprotect", "project.protect", Comparison::in_project},
    {"project.unmask", "project.mask", Comparison::same_text},
    // A path below a hidden one is an exception from it, so the hidden entry closes only the same path.
    {"mounts.readonly", "mounts.hidden", Comparison::same_path},
    {"mounts.writable", "mounts.hidden", Comparison::same_path},
    {"home.readonly", "mounts.hidden", Comparison::same_path},
    {"home.writable", "mounts.hidden", Comparison::same_path},
    {"home.seeded", "mounts.hidden", Comparison::same_path},
    {"sockets.allow", "mounts.hidden", Comparison::same_path},
    {"sockets.allow_dangerous", "mounts.hidden", Comparison::same_path},
    {"mounts.writable", "mounts.deny_writable", Comparison::below, "mounts.readonly"},
    {"mounts.writable", "mounts.readonly", Comparison::same_path, "mounts.readonly"},
    {"mounts.writable", "home.readonly", Comparison::same_path, "mounts.readonly"},
    {"home.writable", "mounts.deny_writable", Comparison::below, "home.readonly"},
    {"home.writable", "home.readonly", Comparison::same_path, "home.readonly"},
    {"home.writable", "mounts.readonly", Comparison::same_path, "home.readonly"},
    {"devices.allow", "devices.deny", Comparison::device},
    // A blocked variable never passes, whichever list is longer.
    {"env.allow", "env.block", Comparison::same_text},
    {"env.allow", "env.block_patterns", Comparison::variable_pattern},
};

std::optional<base::Path> path_of(std::string_view key, const Item& item, const PathMeaning& paths) {
    base::Result<base::Path> path = entry_path(*config::find_setting(key), item, paths);
    return path ? std::optional(*std::move(path)) : std::nullopt;
}

bool takes_in(const Pair& pair, const Item& closing, const Item& grant, const PathMeaning& paths) {
    switch (pair.comparison) {
        case Comparison::same_text:
            return closing.text == grant.text;
        case Comparison::in_project:
            return closing.text == grant.text || base::matches_path(closing.text, grant.text) ||
                   grant.text.starts_with(closing.text + "/");
        case Comparison::same_rule:
            return covers_rule(closing.text, grant.text) && covers_rule(grant.text, closing.text);
        case Comparison::same_path:
        case Comparison::below: {
            // A mount whose name contains a wildcard is compared as text.
            if (base::has_wildcard(closing.text) || base::has_wildcard(grant.text))
                return closing.text == grant.text;
            std::optional<base::Path> inner = path_of(pair.grants, grant, paths);
            std::optional<base::Path> outer = path_of(pair.closes, closing, paths);
            if (!inner || !outer) return false;
            return pair.comparison == Comparison::below ? inner->is_within(*outer) : *inner == *outer;
        }
        case Comparison::device:
            return covers_device(closing.text, grant.text);
        case Comparison::variable_pattern:
            return matches_variable_pattern(closing.text, grant.text);
    }
    return false;
}

std::vector<Item>* items_of(Values& values, std::string_view key) {
    auto value = values.find(key);
    return value == values.end() ? nullptr : &value->second.items;
}

// Moves the entries of `pair.grants` for which `closed_by` gives a reason to `pair.instead`, or drops them.
template <typename ClosedBy>
void drop(Values& admin, const Pair& pair, const ClosedBy& closed_by, std::vector<ClosedGrant>& closed) {
    std::vector<Item>* grants = items_of(admin, pair.grants);
    if (grants == nullptr) return;
    std::vector<Item> moved;
    std::erase_if(*grants, [&](const Item& grant) {
        std::optional<std::string> reason = closed_by(grant);
        if (!reason) return false;
        Outcome outcome = pair.instead.empty() ? Outcome::no_effect : Outcome::only_read_only;
        closed.push_back({std::string(pair.grants), grant, *std::move(reason), outcome});
        if (!pair.instead.empty()) moved.push_back(grant);
        return true;
    });
    if (moved.empty()) return;
    config::Value& target = admin[std::string(pair.instead)];
    if (target.items.empty()) target.origin = moved.front().origin;
    for (Item& item : moved) {
        if (std::ranges::find(target.items, item.text, &Item::text) == target.items.end())
            target.items.push_back(std::move(item));
    }
}

// No list opens a credential of the home directory by its own path. A path below one can be listed.
std::optional<std::string> closing_credential(std::string_view key, const Item& grant,
                                              const PathMeaning& paths) {
    std::optional<base::Path> path = path_of(key, grant, paths);
    if (!path || !path->is_strictly_within(paths.home)) return std::nullopt;
    std::string relative = path->str().substr(paths.home.str().size() + 1);
    for (const config::DataRow& row : config::data_list("home/credentials")) {
        std::string_view entry = row.entry;
        if (entry.ends_with('/')) entry.remove_suffix(1);
        if (base::matches_path(entry, relative)) return base::format("credentials ({})", row.reason);
    }
    return std::nullopt;
}

}  // namespace

std::string ClosedGrant::describe() const {
    std::string text = base::format("{}: {}: '{}' ", item.origin.describe(), key, base::printable(item.text));
    text += outcome == Outcome::no_effect ? "has no effect: " : "is read-only: ";
    return base::format("{}{} closes it", text, closed_by);
}

bool covers_device(std::string_view denied, std::string_view allowed) {
    if (denied == allowed || base::matches_path(denied, allowed)) return true;
    base::Result<base::Path> outer = base::Path::parse(std::string(denied));
    base::Result<base::Path> inner = base::Path::parse(std::string(allowed));
    return outer && inner && inner->is_within(*outer);
}

std::vector<ClosedGrant> drop_closed_grants(Values& admin, const PathMeaning& paths) {
    std::vector<ClosedGrant> closed;
    for (const Pair& pair : kPairs) {
        const std::vector<Item>* closing = items_of(admin, pair.closes);
        if (closing == nullptr) continue;
        drop(
            admin, pair,
            [&](const Item& grant) -> std::optional<std::string> {
                auto found = std::ranges::find_if(
                    *closing, [&](const Item& one) { return takes_in(pair, one, grant, paths); });
                if (found == closing->end()) return std::nullopt;
                return base::format("{} in {}", pair.closes, found->origin.describe());
            },
            closed);
    }
    for (std::string_view key : {"mounts.readonly", "mounts.writable", "home.readonly", "home.writable"}) {
        drop(
            admin, Pair{key, "", Comparison::same_path},
            [&](const Item& grant) { return closing_credential(key, grant, paths); }, closed);
    }
    return closed;
}

}  // namespace policy
