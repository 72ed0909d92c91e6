// SPDX-License-Identifier: MIT
#include "cli/report/ceiling_report.h"

#include <algorithm>

#include "base/file.h"
#include "base/parse.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/report/network_entries.h"
#include "plan/network/network.h"
#include "policy/ceiling.h"

namespace cli {
namespace {

using config::Item;
using config::Order;
using config::Setting;
using config::Value;
using policy::Effective;
using policy::PathMeaning;

bool is_written(const config::Origin& origin) {
    return origin.layer == config::Layer::admin;
}

std::vector<Item> written(const Effective& effective, std::string_view key) {
    std::vector<Item> items = effective.items(key);
    std::erase_if(items, [](const Item& item) { return !is_written(item.origin); });
    return items;
}

std::string line(const Item& item, std::string_view key, std::string_view problem) {
    return base::format("{}: {}: '{}' {}", item.origin.describe(), key, base::printable(item.text), problem);
}

// ---- Without effect

// Every mode of the network that a run under this ceiling can reach has a gateway.
bool always_has_gateway(const Effective& effective) {
    return effective.text("network.mode") != "open" && effective.text("network.fallback") != "open";
}

void add_impassable(const Effective& effective, std::vector<std::string>& warnings) {
    for (const Item& item : written(effective, "env.allow")) {
        std::string_view obstacle = plan::variable_obstacle(item.text, always_has_gateway(effective));
        if (!obstacle.empty())
            warnings.push_back(line(item, "env.allow", base::format("has no effect: {}", obstacle)));
    }
}

std::string widest(const Setting& setting) {
    switch (setting.order) {
        case Order::true_is_strict:
            return "false";
        case Order::false_is_strict:
            return "true";
        case Order::lower_is_strict:
            return "0";
        case Order::choices_ascend:
            return std::string(config::choices_of(setting).front());
        default:
            return {};
    }
}

bool is_locked(const Effective& effective, std::string_view key) {
    const std::vector<Item>& locks = effective.items("lock");
    return std::ranges::find(locks, key, &Item::text) != locks.end();
}

void add_needless(const Effective& effective, std::vector<std::string>& warnings) {
    for (const Setting& setting : config::settings()) {
        if (config::is_list(setting.type) || !is_written(effective.origin(setting.key))) continue;
        const std::string& text = effective.text(setting.key);
        bool is_default = text == setting.fallback && text == widest(setting);
        if (!is_default || is_locked(effective, setting.key)) continue;
        warnings.push_back(base::format("{}: {} = {} changes nothing: it is built in, and nothing is wider",
                                        effective.origin(setting.key).describe(), setting.key, text));
    }
}

// ---- Paths

bool holds_paths(const Setting& setting) {
    return setting.type == config::Type::path_list && setting.key != "devices.allow" &&
           setting.key != "devices.deny";
}

void add_missing(const Effective& effective, const PathMeaning& paths, const host::Tree& disk,
                 std::vector<std::string>& warnings) {
    for (const Setting& setting : config::settings()) {
        if (!holds_paths(setting)) continue;
        for (const Item& item : written(effective, setting.key)) {
            // The meaning of ~ depends on the user, so it cannot be checked here.
            if (item.text.starts_with('~')) continue;
            base::Result<base::Path> path = policy::entry_path(setting, item, paths);
            if (path && !disk.look(*path))
                warnings.push_back(line(item, setting.key, "does not exist on this machine"));
        }
    }
}

// The account services other than /etc/passwd, from /etc/nsswitch.conf; empty if there are no others.
std::string directory_services() {
    base::Result<std::string> text = base::read_file("/etc/nsswitch.conf");
    if (!text) return {};
    std::vector<std::string> services;
    for (std::string_view row : base::split(*text, '\n')) {
        row = base::trim(row.substr(0, row.find('#')));
        if (!row.starts_with("passwd:")) continue;
        for (std::string_view word : base::split(row.substr(7), ' ')) {
            word = base::trim(word);
            bool is_local = word == "files" || word == "compat" || word == "systemd" || word == "altfiles";
            if (!word.empty() && !word.starts_with('[') && !is_local) services.emplace_back(word);
        }
    }
    return base::join(services, ", ");
}

void add_home_entries(const Effective& effective, std::vector<std::string>& warnings) {
    std::string services = directory_services();
    if (services.empty()) return;
    for (std::string_view key : {"mounts.hidden", "mounts.deny_writable"}) {
        for (const Item& item : written(effective, key)) {
            if (!item.text.starts_with('~')) continue;
            warnings.push_back(line(item, key,
                                    base::format("holds for accounts of /etc/passwd; for those that come "
                                                 "from {}, ~ is what HOME says: write the full path",
                                                 services)));
        }
    }
}

// ---- The summary

std::string joined_items(const std::vector<Item>& items) {
    std::vector<std::string> texts;
    for (const Item& item : items) texts.push_back(base::printable(item.text));
    return base::join(texts, ", ");
}

// The choices that are as strict as this one or stricter.
std::string choices_left(const Setting& setting, const std::string& limit) {
    std::vector<std::string> left;
    for (std::string_view choice : config::choices_of(setting)) {
        if (policy::compare_strictness(setting, choice, limit) >= 0) left.emplace_back(choice);
    }
    return base::join(left, ", ");
}

struct Unit {
    config::Type type;
    uint64_t factor;
    std::string_view suffix;
};
constexpr Unit kUnits[] = {
    {config::Type::size, 1u << 30, "G"}, {config::Type::size, 1u << 20, "M"},
    {config::Type::size, 1u << 10, "K"}, {config::Type::duration, 3600, "h"},
    {config::Type::duration, 60, "m"},   {config::Type::duration, 1, "s"},
};

// "16h" for 57600: the form that users write in files.
std::string limit_text(const Setting& setting, const std::string& text) {
    uint64_t number = base::parse_number<uint64_t>(text).value_or(0);
    for (const Unit& unit : kUnits) {
        if (unit.type == setting.type && number % unit.factor == 0)
            return std::to_string(number / unit.factor) + std::string(unit.suffix);
    }
    return text;
}

// An empty list of parents: no project is below one, so no run can start.
bool closes_everything(const Setting& setting, const Effective& effective) {
    return setting.order == Order::parents_narrow && effective.items(setting.key).empty();
}

std::string permitted(const Setting& setting, const Effective& effective) {
    const std::string& text = effective.text(setting.key);
    switch (setting.order) {
        case Order::choices_ascend:
            return choices_left(setting, text);
        case Order::lower_is_strict:
            return text == "0" ? "without limit" : "up to " + limit_text(setting, text);
        case Order::true_is_strict:
            return text == "true" ? "" : "true or false";
        case Order::false_is_strict:
            return text == "false" ? "" : "true or false";
        case Order::parents_narrow:
            return closes_everything(setting, effective)
                       ? ""
                       : "below " + joined_items(written(effective, setting.key));
        case Order::list_grants:
            return "also have " + joined_items(written(effective, setting.key));
        case Order::trusted:
        case Order::neutral:
            return (config::is_list(setting.type) ? joined_items(written(effective, setting.key))
                                                  : config::without_secrets(text)) +
                   ", or anything else";
        case Order::list_restricts:
        case Order::admin_only:
            return {};
    }
    return {};
}

std::string forbidden(const Setting& setting, const Effective& effective) {
    switch (setting.order) {
        case Order::parents_narrow:
            return closes_everything(setting, effective) ? "start anything" : "";
        case Order::list_restricts:
            return "undo " + joined_items(written(effective, setting.key));
        case Order::admin_only:
            return (setting.key == "lock" ? "change " : "write ") +
                   joined_items(written(effective, setting.key));
        case Order::true_is_strict:
            return effective.is_true(setting.key) ? "turn it off" : "";
        case Order::false_is_strict:
            return effective.is_true(setting.key) ? "" : "turn it on";
        default:
            return {};
    }
}

bool is_said(const Setting& setting, const Effective& effective) {
    if (closes_everything(setting, effective)) return true;
    return config::is_list(setting.type) ? !written(effective, setting.key).empty()
                                         : is_written(effective.origin(setting.key));
}

}  // namespace

std::vector<std::string> ceiling_warnings(const Effective& effective, const PathMeaning& paths,
                                          const host::Tree& disk) {
    std::vector<std::string> warnings = network_warnings(effective.values);
    for (const policy::ClosedGrant& closed : effective.closed) warnings.push_back(closed.describe());
    add_impassable(effective, warnings);
    add_needless(effective, warnings);
    add_missing(effective, paths, disk, warnings);
    add_home_entries(effective, warnings);
    return warnings;
}

void leave_out_without_effect(Effective& effective, const std::vector<std::string>& warnings) {
    for (auto& [key, value] : effective.values) {
        std::erase_if(value.items, [&](const Item& item) {
            std::string start = item.origin.describe() + ": ";
            std::string said = base::format("'{}' has no effect", base::printable(item.text));
            return std::ranges::any_of(warnings, [&](const std::string& warning) {
                return warning.starts_with(start) && warning.find(said) != std::string::npos;
            });
        });
    }
}

std::string ceiling_summary(const Effective& effective, bool is_coloured) {
    base::Table may, may_not;
    for (const Setting& setting : config::settings()) {
        if (!is_said(setting, effective)) continue;
        std::string name(setting.key);
        std::string no = forbidden(setting, effective);
        std::string yes = is_locked(effective, setting.key) ? "" : permitted(setting, effective);
        if (!yes.empty()) may.add({{name}, {yes}});
        if (!no.empty()) may_not.add({{name}, {no}});
    }
    std::string text;
    if (!may.is_empty()) text += "users may:\n" + may.text(2, is_coloured);
    if (!may_not.is_empty()) text += "users may not:\n" + may_not.text(2, is_coloured);
    return text.empty() ? "users may do what they like: nothing is said\n" : text;
}

}  // namespace cli
