// SPDX-License-Identifier: MIT
// Theory of operation. The built-in values come first, then the administrator's files: these two are the
// base. Next come the profile of the agent that is run, the user's files, the project's, presets, variables
// and the command line. Each of them is checked entry by entry against the administrator's values
// (ceiling.h). An untrusted project's file is also checked against the values so far, because it may only
// make them stricter. Then the layer is merged: scalars and project.parents are replaced, other lists grow.
#include "policy/merge.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "config/data.h"
#include "policy/ceiling.h"

namespace policy {
namespace {

using config::Item;
using config::Order;
using config::Setting;
using config::Value;
using config::Values;

void add_new_items(std::vector<Item>& items, const std::vector<Item>& more) {
    // Reserve first, because the set refers to the strings. Lists of ten thousand hosts exist.
    items.reserve(items.size() + more.size());
    std::unordered_set<std::string_view> known;
    for (const Item& item : items) known.insert(item.text);
    for (const Item& item : more) {
        if (known.insert(item.text).second) items.push_back(item);
    }
}

// A later NAME=VALUE replaces an earlier one of the same name.
void add_assignment(std::vector<Item>& items, const Item& item) {
    std::string_view name = std::string_view(item.text).substr(0, item.text.find('=') + 1);
    std::erase_if(items, [&](const Item& known) { return known.text.starts_with(name); });
    items.push_back(item);
}

void lay_on_top(Values& values, const Setting& setting, const Value& value) {
    Value& target = values[std::string(setting.key)];
    if (!config::is_list(setting.type)) {
        target = value;
        return;
    }
    if (setting.order == Order::parents_narrow) target.items.clear();
    if (!value.items.empty()) target.origin = value.origin;
    if (setting.type != config::Type::assignments) return add_new_items(target.items, value.items);
    for (const Item& item : value.items) add_assignment(target.items, item);
}

// A built-in entry that the administrator wrote too counts as the administrator's: no lower layer may lift
// it.
void take_over(std::vector<Item>& items, const std::vector<Item>& written) {
    std::unordered_map<std::string_view, const Item*> by_text;
    for (const Item& item : written) by_text.emplace(item.text, &item);
    for (Item& item : items) {
        if (item.origin.layer != config::Layer::builtin) continue;
        if (auto found = by_text.find(item.text); found != by_text.end()) item.origin = found->second->origin;
    }
}

Values admin_values(const std::vector<config::LayerFile>& files) {
    Values values;
    for (const config::LayerFile& file : files) {
        for (const auto& [key, value] : file.values) {
            const Setting& setting = *config::find_setting(key);
            // Several files of the administrator are added up, including project.parents.
            if (setting.order == Order::parents_narrow) {
                add_new_items(values[key].items, value.items);
                values[key].origin = value.origin;
            } else {
                lay_on_top(values, setting, value);
            }
        }
    }
    return values;
}

// Merges one checked source into the effective values.
base::Status add_source(Effective& effective, const Values& source, const Ceiling& ceiling,
                        bool must_narrow) {
    for (const auto& [key, asked] : source) {
        const Setting& setting = *config::find_setting(key);
        if (must_narrow) {
            if (base::Status narrow = ceiling.check_narrows(setting, asked, effective.values[key]); !narrow)
                return narrow;
        }
        Value accepted = asked;
        if (base::Status held = ceiling.hold(setting, accepted, effective.warnings); !held) return held;
        if (config::is_list(setting.type) && accepted.items.empty()) continue;
        lay_on_top(effective.values, setting, accepted);
    }
    return base::success();
}

}  // namespace

config::Values builtin_values() {
    Values values;
    for (const Setting& setting : config::settings()) {
        Value& value = values[std::string(setting.key)];
        if (!config::is_list(setting.type)) {
            // The table contains sizes and durations in the form that people write.
            base::Result<std::string> canonical = config::canonical_text(setting, setting.fallback);
            value.text = canonical ? *std::move(canonical) : std::string(setting.fallback);
        } else if (setting.fallback.starts_with('@')) {
            for (const config::DataRow& row : config::data_list(setting.fallback.substr(1))) {
                value.items.push_back(Item{std::string(row.entry), {}});
            }
        } else if (!setting.fallback.empty()) {
            for (std::string_view word : base::split(setting.fallback, ' ')) {
                value.items.push_back(Item{std::string(word), {}});
            }
        }
    }
    return values;
}

const std::string& Effective::text(std::string_view key) const {
    return values.find(key)->second.text;
}

const std::vector<Item>& Effective::items(std::string_view key) const {
    return values.find(key)->second.items;
}

const config::Origin& Effective::origin(std::string_view key) const {
    return values.find(key)->second.origin;
}

base::Result<Effective> merge(const Layers& layers, const PathMeaning& paths) {
    Effective effective;
    effective.values = builtin_values();

    const Values admin = admin_values(layers.admin);
    Values granted = admin;
    effective.closed = drop_closed_grants(granted, paths);
    for (const auto& [key, value] : granted) {
        lay_on_top(effective.values, *config::find_setting(key), value);
        take_over(effective.values[key].items, value.items);
    }
    const Ceiling ceiling(admin, paths);

    constexpr bool kMustNarrow = true;
    for (const config::LayerFile& file : layers.profile) {
        if (base::Status added = add_source(effective, file.values, ceiling, !kMustNarrow); !added)
            return added.error();
    }
    for (const config::LayerFile& file : layers.user) {
        if (base::Status added = add_source(effective, file.values, ceiling, !kMustNarrow); !added)
            return added.error();
    }
    for (const config::ProjectFile& file : layers.project) {
        bool must_narrow = !file.is_trusted;
        if (base::Status added = add_source(effective, file.layer.values, ceiling, must_narrow); !added) {
            return added.error();
        }
    }
    for (const config::LayerFile& file : layers.preset) {
        if (base::Status added = add_source(effective, file.values, ceiling, !kMustNarrow); !added)
            return added.error();
    }
    for (const Values* source : {&layers.variables, &layers.command_line}) {
        if (base::Status added = add_source(effective, *source, ceiling, !kMustNarrow); !added)
            return added.error();
    }
    return effective;
}

}  // namespace policy
