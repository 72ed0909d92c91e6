// SPDX-License-Identifier: MIT
#include "policy/entry_match.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/parse.h"
#include "base/path.h"
#include "base/text.h"
#include "config/data.h"
#include "policy/merge.h"

namespace policy {
namespace {

struct Ports {
    int first = 0;
    int last = 65535;
    bool is_any() const { return first == 0 && last == 65535; }
};

std::optional<int> number_in(std::string_view text) {
    return base::parse_number<uint16_t>(text);
}

// "443" or "8000-8100".
std::optional<Ports> ports_in(std::string_view text) {
    size_t dash = text.find('-');
    std::optional<int> first = number_in(text.substr(0, dash));
    std::optional<int> last = dash == std::string_view::npos ? first : number_in(text.substr(dash + 1));
    if (!first || !last) return std::nullopt;
    return Ports{*first, *last};
}

struct Network {
    std::array<uint8_t, 16> bytes{};
    int family = 0;
    int prefix = 0;
};

std::optional<Network> network_in(std::string_view text) {
    size_t slash = text.find('/');
    std::string address(text.substr(0, slash));
    Network network;
    for (int family : {AF_INET, AF_INET6}) {
        if (::inet_pton(family, address.c_str(), network.bytes.data()) != 1) continue;
        network.family = family;
        int widest = family == AF_INET ? 32 : 128;
        network.prefix = widest;
        if (slash != std::string_view::npos) {
            std::optional<int> prefix = number_in(text.substr(slash + 1));
            if (!prefix || *prefix > widest) return std::nullopt;
            network.prefix = *prefix;
        }
        return network;
    }
    return std::nullopt;
}

bool contains(const Network& outer, const Network& inner) {
    if (outer.family != inner.family || outer.prefix > inner.prefix) return false;
    for (int bit = 0; bit < outer.prefix; ++bit) {
        auto byte = static_cast<size_t>(bit / 8);
        int mask = 0x80 >> (bit % 8);
        if ((outer.bytes[byte] & mask) != (inner.bytes[byte] & mask)) return false;
    }
    return true;
}

struct Rule {
    std::string host;  // lower case, without a dot at the end; "*" for every host
    Ports ports;
    bool is_udp = false;  // a block without it covers both transports, an allow without it only TCP
    bool is_raw = false;  // a block with it covers only unknown protocols
};

Rule rule_in(std::string_view text) {
    Rule rule;
    rule.is_udp = text.starts_with("udp:");
    rule.is_raw = text.starts_with("raw:");
    if (rule.is_udp || rule.is_raw) text.remove_prefix(4);
    if (std::optional<Ports> ports = ports_in(text)) {
        rule.host.push_back('*');
        rule.ports = *ports;
        return rule;
    }
    size_t bracket = text.rfind(']');
    size_t colon = text.rfind(':');
    bool has_one_colon = colon != std::string_view::npos && text.find(':') == colon;
    if (colon != std::string_view::npos &&
        (has_one_colon || (bracket != std::string_view::npos && bracket < colon))) {
        if (std::optional<Ports> ports = ports_in(text.substr(colon + 1))) {
            rule.ports = *ports;
            text = text.substr(0, colon);
        }
    }
    text = base::without_brackets(text);
    while (text.ends_with('.')) text.remove_suffix(1);
    rule.host = base::lower(text);
    return rule;
}

bool covers_host(const std::string& outer, const std::string& inner) {
    if (outer == "*" || outer == inner) return true;
    if (outer.starts_with("*.")) {
        std::string_view suffix = std::string_view(outer).substr(1);
        std::string_view name = inner;
        if (name.starts_with("*.")) name.remove_prefix(1);
        return name.size() >= suffix.size() && name.ends_with(suffix) &&
               (inner.starts_with("*.") || name != suffix);
    }
    std::optional<Network> network = network_in(outer);
    std::optional<Network> asked = network_in(inner);
    return network && asked && contains(*network, *asked);
}

}  // namespace

bool matches_variable_pattern(std::string_view pattern, std::string_view name) {
    bool ignore_case = pattern.ends_with("/i");
    if (ignore_case) pattern.remove_suffix(2);
    return base::matches_name(pattern, name, ignore_case);
}

bool covers_rule(std::string_view outer_text, std::string_view inner_text) {
    Rule outer = rule_in(outer_text);
    Rule inner = rule_in(inner_text);
    bool ports_covered = outer.ports.first <= inner.ports.first && inner.ports.last <= outer.ports.last;
    bool transport_covered = (!outer.is_udp || inner.is_udp) && (!outer.is_raw || inner.is_raw);
    return transport_covered && ports_covered && covers_host(outer.host, inner.host);
}

base::Result<base::Path> entry_path(const config::Setting& setting, const config::Item& item,
                                    const PathMeaning& paths) {
    std::string_view text = item.text;
    base::Path path;
    if (setting.type == config::Type::home_list) {
        path = paths.home / text;
    } else if (text == "~" || text.starts_with("~/")) {
        path = paths.home / text.substr(1);
    } else {
        base::Result<base::Path> absolute = base::Path::parse(text);
        if (!absolute) {
            base::Error error = absolute.error();
            error.where = item.origin.describe();
            return error;
        }
        path = *absolute;
    }
    // For a pattern, compare the directory before its first wildcard.
    while (base::has_wildcard(path.str())) path = path.parent();
    return paths.canonical(path);
}

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
    {"mounts.approved", "mounts.hidden", Comparison::same_path},
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
    for (std::string_view key :
         {"mounts.readonly", "mounts.approved", "mounts.writable", "home.readonly", "home.writable"}) {
        drop(
            admin, Pair{key, "", Comparison::same_path},
            [&](const Item& grant) { return closing_credential(key, grant, paths); }, closed);
    }
    return closed;
}

}  // namespace policy
