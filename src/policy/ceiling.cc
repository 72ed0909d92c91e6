// SPDX-License-Identifier: MIT
#include "policy/ceiling.h"

#include <algorithm>
#include <optional>

#include "base/inside/addresses.h"
#include "base/parse.h"
#include "base/text.h"
#include "policy/entry_match.h"

namespace policy {
namespace {

using config::Item;
using config::Order;
using config::Setting;
using config::Value;

// "user config.toml:12 asks network.mode = open; /etc/…:4 requires filtered or stricter"
base::Error refusal(const config::Origin& asker, const std::string& asks, const std::string& requires_what) {
    return base::Error{.what = base::format("{} {} asks {}; {}", config::layer_name(asker.layer),
                                            asker.describe(), asks, requires_what)};
}

uint64_t as_limit(std::string_view text) {
    uint64_t number = base::parse_number<uint64_t>(text).value_or(0);
    return number == 0 ? UINT64_MAX : number;  // 0 is "no limit"
}

std::string stricter_wording(const Setting& setting, const std::string& limit) {
    switch (setting.order) {
        case Order::choices_ascend:
            return limit + " or stricter";
        case Order::lower_is_strict:
            return "at most " + limit;
        case Order::true_is_strict:
        case Order::false_is_strict:
            return limit;
        case Order::neutral:
        case Order::trusted:
        case Order::list_restricts:
        case Order::list_grants:
        case Order::parents_narrow:
        case Order::admin_only:
            return limit;
    }
    return limit;
}

// The network rule that an entry opens, for a comparison with network.block.
std::optional<std::string> opened_by(const Setting& setting, const Item& item) {
    if (setting.key == "network.allow" || setting.key == "network.private") return item.text;
    if (setting.key == "network.udp") return item.text.starts_with("udp:") ? item.text : "udp:" + item.text;
    if (setting.key == "network.host_services") {
        bool is_port = item.text.find(':') == std::string::npos;
        return is_port ? base::format("{}:{}", base::kHostServiceName, item.text) : item.text;
    }
    return std::nullopt;
}

bool has_order(Order order) {
    return order == Order::true_is_strict || order == Order::false_is_strict ||
           order == Order::choices_ascend || order == Order::lower_is_strict;
}

}  // namespace

int compare_strictness(const Setting& setting, std::string_view a, std::string_view b) {
    auto rank = [&](std::string_view text) -> int {
        switch (setting.order) {
            case Order::true_is_strict:
                return text == "true";
            case Order::false_is_strict:
                return text == "false";
            case Order::choices_ascend: {
                std::vector<std::string_view> choices = config::choices_of(setting);
                return static_cast<int>(std::ranges::find(choices, text) - choices.begin());
            }
            case Order::lower_is_strict:
            case Order::neutral:
            case Order::trusted:
            case Order::list_restricts:
            case Order::list_grants:
            case Order::parents_narrow:
            case Order::admin_only:
                return 0;
        }
        return 0;
    };
    if (setting.order == Order::lower_is_strict) {
        uint64_t left = as_limit(a), right = as_limit(b);
        return left < right ? 1 : left > right ? -1 : 0;
    }
    return rank(a) - rank(b);
}

base::Status Ceiling::hold(const Setting& setting, Value& asked, std::vector<std::string>& warnings) const {
    if (setting.order == Order::admin_only) {
        return base::Error{.what = std::string(setting.key) + " can only be set by the administrator",
                           .advice = "remove it",
                           .where = asked.origin.describe()};
    }
    if (base::Status free = hold_lock(setting, asked); !free) return free;
    if (setting.order == Order::parents_narrow) return hold_parents(setting, asked, warnings);
    if (setting.order == Order::list_grants) return hold_grants(setting, asked, warnings);
    auto limit = admin_.find(setting.key);
    if (limit != admin_.end() && has_order(setting.order)) return hold_scalar(setting, asked, limit->second);
    return base::success();
}

base::Status Ceiling::hold_scalar(const Setting& setting, const Value& asked, const Value& limit) const {
    if (compare_strictness(setting, asked.text, limit.text) >= 0) return base::success();
    return refusal(
        asked.origin, base::format("{} = {}", setting.key, asked.text),
        base::format("{} requires {}", limit.origin.describe(), stricter_wording(setting, limit.text)));
}

base::Status Ceiling::hold_lock(const Setting& setting, const Value& asked) const {
    for (const Item& lock : admin_items("lock")) {
        if (lock.text != setting.key) continue;
        auto final_value = admin_.find(setting.key);
        bool is_same = final_value != admin_.end() && !config::is_list(setting.type) &&
                       final_value->second.text == asked.text;
        if (is_same) return base::success();
        std::string asks = std::string(setting.key);
        if (!config::is_list(setting.type)) asks += " = " + config::without_secrets(asked.text);
        return refusal(asked.origin, asks, lock.origin.describe() + " locks it");
    }
    return base::success();
}

// Keeps the entries that are within one of the administrator's and drops the others. If none is left, the
// setting is refused.
base::Status Ceiling::hold_parents(const Setting& setting, Value& asked,
                                   std::vector<std::string>& warnings) const {
    auto limit = admin_.find(setting.key);
    if (limit == admin_.end()) return base::success();
    std::vector<Item> kept;
    for (const Item& item : asked.items) {
        base::Result<base::Path> path = entry_path(setting, item, paths_);
        if (!path) return path.error();
        bool is_below = std::ranges::any_of(limit->second.items, [&](const Item& allowed) {
            base::Result<base::Path> ancestor = entry_path(setting, allowed, paths_);
            return ancestor && path->is_within(*ancestor);
        });
        if (is_below) {
            kept.push_back(item);
        } else {
            warnings.push_back(base::format(
                "{}: project.parents entry {} is outside those of {} and does not count",
                item.origin.describe(), base::printable(item.text), limit->second.origin.describe()));
        }
    }
    if (kept.empty() && !asked.items.empty()) {
        return refusal(asked.origin, "project.parents outside every directory that is permitted",
                       limit->second.origin.describe() + " requires entries within its own");
    }
    asked.items = std::move(kept);
    return base::success();
}

base::Status Ceiling::hold_grants(const Setting& setting, Value& asked,
                                  std::vector<std::string>& warnings) const {
    std::vector<Item> kept;
    for (const Item& item : asked.items) {
        if (base::Status held = hold_writable(setting, item); !held) return held;
        if (const Item* blocking = blocking_entry(setting, item)) {
            warnings.push_back(base::format("{}: {} entry {} has no effect: {} blocks {}",
                                            item.origin.describe(), setting.key,
                                            base::printable(item.text.substr(0, item.text.find('='))),
                                            blocking->origin.describe(), base::printable(blocking->text)));
            continue;
        }
        kept.push_back(item);
    }
    asked.items = std::move(kept);
    return base::success();
}

// A lower layer can't make writable what the administrator lists as read-only or in mounts.deny_writable.
base::Status Ceiling::hold_writable(const Setting& setting, const Item& item) const {
    if (setting.key != "home.writable" && setting.key != "mounts.writable") return base::success();
    base::Result<base::Path> path = entry_path(setting, item, paths_);
    if (!path) return path.error();
    for (std::string_view key : {"home.readonly", "mounts.readonly", "mounts.deny_writable"}) {
        for (const Item& limit : admin_items(key)) {
            base::Result<base::Path> ancestor = entry_path(*config::find_setting(key), limit, paths_);
            if (!ancestor || !path->is_within(*ancestor)) continue;
            return refusal(
                item.origin, base::format("{} {}", setting.key, base::printable(item.text)),
                base::format("{} keeps {} read-only", limit.origin.describe(), base::printable(limit.text)));
        }
    }
    return base::success();
}

const Item* Ceiling::blocking_entry(const Setting& setting, const Item& item) const {
    auto find = [&](std::string_view key, auto&& covers) -> const Item* {
        for (const Item& blocking : admin_items(key)) {
            if (covers(blocking.text)) return &blocking;
        }
        return nullptr;
    };
    if (std::optional<std::string> opened = opened_by(setting, item)) {
        return find("network.block", [&](const std::string& rule) { return covers_rule(rule, *opened); });
    }
    if (setting.key == "env.allow" || setting.key == "env.set") {
        std::string_view name = std::string_view(item.text).substr(0, item.text.find('='));
        if (const Item* exact =
                find("env.block", [&](const std::string& blocked) { return blocked == name; })) {
            return exact;
        }
        return find("env.block_patterns",
                    [&](const std::string& pattern) { return matches_variable_pattern(pattern, name); });
    }
    if (setting.key == "devices.allow") {
        return find("devices.deny",
                    [&](const std::string& denied) { return covers_device(denied, item.text); });
    }
    return nullptr;
}

const std::vector<Item>& Ceiling::admin_items(std::string_view key) const {
    static const std::vector<Item> kNone;
    auto value = admin_.find(key);
    return value == admin_.end() ? kNone : value->second.items;
}

base::Status Ceiling::check_narrows(const Setting& setting, const Value& asked, const Value& current) const {
    constexpr const char* kAdvice = "remove it, or read the file and run 'agent-sandbox trust'";
    auto widening = [&](const config::Origin& origin, std::string what) {
        return base::Error{.what = std::move(what), .advice = kAdvice, .where = origin.describe()};
    };
    switch (setting.order) {
        case Order::neutral:
            return base::success();
        case Order::list_restricts:
            // A question about a request that a wider entry refuses is more than the refusal.
            if (setting.key != "requests.ask") return base::success();
            return widening(asked.origin, "a project file may not set requests.ask");
        case Order::admin_only:
        case Order::trusted:
            return widening(asked.origin, "a project file may not set " + std::string(setting.key));
        case Order::true_is_strict:
        case Order::false_is_strict:
        case Order::choices_ascend:
        case Order::lower_is_strict:
            // Off decrypts less, and so judges less. A log-in that stays outside is decrypted.
            if (setting.key == "credentials.intercept" || setting.key == "credentials.login")
                return widening(asked.origin, "a project file may not set " + std::string(setting.key));
            if (compare_strictness(setting, asked.text, current.text) >= 0) return base::success();
            return widening(asked.origin,
                            base::format("a project file may only narrow, and {} = {} is wider than {} ({})",
                                         setting.key, asked.text, current.text, current.origin.describe()));
        case Order::list_grants:
            for (const Item& item : asked.items) {
                bool is_granted = std::ranges::any_of(
                    current.items, [&](const Item& known) { return known.text == item.text; });
                if (is_granted) continue;
                return widening(item.origin,
                                base::format("a project file may only narrow, and {} would add {}",
                                             setting.key, base::printable(item.text)));
            }
            return base::success();
        case Order::parents_narrow:
            for (const Item& item : asked.items) {
                base::Result<base::Path> path = entry_path(setting, item, paths_);
                if (!path) return path.error();
                bool is_below = std::ranges::any_of(current.items, [&](const Item& known) {
                    base::Result<base::Path> ancestor = entry_path(setting, known, paths_);
                    return ancestor && path->is_within(*ancestor);
                });
                if (!is_below) {
                    return widening(item.origin,
                                    "a project file may only narrow, and project.parents would add " +
                                        base::printable(item.text));
                }
            }
            return base::success();
    }
    return base::success();
}

}  // namespace policy
