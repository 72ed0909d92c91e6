// SPDX-License-Identifier: MIT
#include "credentials/resolve.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace credentials {
namespace {

using base::Error;
using base::Result;
using base::Status;
using config::Layer;
using config::LayerFile;
using config::Values;

bool is_source(std::string_view key) {
    return key.starts_with("from_");
}

// Two keys that say the same thing: all sources count as one.
bool says_the_same(std::string_view key, std::string_view other) {
    return key == other || (is_source(key) && is_source(other));
}

// In the order of merging. A project's file can't define a credential (config/layer.cc).
std::vector<const LayerFile*> files_of(const policy::Layers& layers) {
    std::vector<const LayerFile*> files;
    for (const std::vector<LayerFile>* list :
         {&layers.admin, &layers.profile, &layers.user, &layers.preset}) {
        for (const LayerFile& file : *list) files.push_back(&file);
    }
    return files;
}

// Adds the keys of one table. What the administrator wrote is final.
Status add_table(const std::string& name, const Values& table, Values& merged) {
    for (const auto& [key, value] : table) {
        for (const auto& [known, earlier] : merged) {
            bool is_ceiling = earlier.origin.layer == Layer::admin && value.origin.layer != Layer::admin;
            if (!is_ceiling || !says_the_same(key, known)) continue;
            return Error{
                .what = base::format("{} {} sets credential.{}.{}; {} sets credential.{}.{} for everybody",
                                     config::layer_name(value.origin.layer), value.origin.describe(), name,
                                     key, earlier.origin.describe(), name, known),
                .advice = "remove the line, or define a credential of another name"};
        }
    }
    if (std::ranges::any_of(table, [](const auto& entry) { return is_source(entry.first); }))
        std::erase_if(merged, [](const auto& entry) { return is_source(entry.first); });
    for (const auto& [key, value] : table) merged.insert_or_assign(key, value);
    return base::success();
}

Error unknown_credential(const policy::Layers& layers, const std::string& name, const config::Origin& use) {
    std::vector<std::string> names = preset_names();
    std::ranges::move(defined_names(layers), std::back_inserter(names));
    std::vector<std::string_view> known(names.begin(), names.end());
    std::string meant = base::nearest(name, known);
    return Error{.what = base::format("there is no credential '{}'", base::printable(name)),
                 .advice = meant.empty()
                               ? base::format("write hosts, put, variable and shape in [credential.{}]", name)
                               : base::format("'{}' was probably meant", meant),
                 .where = use.layer == Layer::builtin ? "" : use.describe()};
}

Status check_variables(const std::vector<Credential>& credentials) {
    std::map<std::string_view, const Credential*> owners;
    for (const Credential& credential : credentials) {
        for (const std::string& variable : credential.variables) {
            auto [owner, is_new] = owners.emplace(variable, &credential);
            if (is_new) continue;
            return Error{.what = base::format("the credentials {} and {} both put a placeholder into {}",
                                              owner->second->name, credential.name, variable),
                         .advice = base::format("use one of them, or set variable in [credential.{}]",
                                                credential.name),
                         .where = credential.use_origin.describe()};
        }
    }
    return base::success();
}

}  // namespace

const Credential* Resolved::owner_of(std::string_view variable) const {
    auto owner = std::ranges::find_if(credentials, [&](const Credential& credential) {
        return std::ranges::find(credential.variables, variable) != credential.variables.end();
    });
    return owner == credentials.end() ? nullptr : &*owner;
}

std::vector<std::string> defined_names(const policy::Layers& layers) {
    std::vector<std::string> names;
    for (const LayerFile* file : files_of(layers)) {
        for (const auto& [name, table] : file->credentials) names.push_back(name);
    }
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    return names;
}

std::vector<DefinedSource> defined_sources(const policy::Layers& layers) {
    std::vector<DefinedSource> defined;
    for (const LayerFile* file : files_of(layers)) {
        for (const auto& [name, table] : file->credentials)
            std::ranges::move(sources_in(name, table), std::back_inserter(defined));
    }
    return defined;
}

Result<Credential> resolve_one(const policy::Layers& layers, const std::string& name,
                               const config::Origin& use) {
    Values own;
    bool is_defined = has_preset(name);
    for (const LayerFile* file : files_of(layers)) {
        auto table = file->credentials.find(name);
        if (table == file->credentials.end()) continue;
        is_defined = true;
        if (Status added = add_table(name, table->second, own); !added) return added.error();
    }
    if (!is_defined) return unknown_credential(layers, name, use);
    Values preset;
    if (has_preset(name)) {
        Result<Values> shipped = preset_values(name);
        if (!shipped) return shipped.error();
        preset = *std::move(shipped);
    }
    Result<Credential> made = make_credential(name, preset, own);
    if (made) made->use_origin = use;
    return made;
}

network::requests::RequestSettings request_settings(const policy::Policy& policy) {
    return {.allow = policy.requests.allow,
            .ask = policy.requests.ask,
            .block = policy.requests.block,
            .git = policy.requests.git,
            .opaque = policy.requests.opaque,
            .observe = policy.requests.observe};
}

Result<Resolved> resolve(const policy::Layers& layers, const policy::Policy& policy) {
    Resolved resolved;
    const auto& requests = policy.requests;
    resolved.has_rules =
        !requests.allow.empty() || !requests.ask.empty() || !requests.block.empty() || !requests.git.empty();
    if (resolved.has_rules || !requests.opaque.empty()) {
        Result<network::requests::RequestRules> rules =
            network::requests::RequestRules::make(request_settings(policy));
        if (!rules) return rules.error();
        resolved.rules = *std::move(rules);
    }
    const policy::Items& use = policy.credentials.use;
    if (use.size() > kMaximumCredentials) {
        return Error{.what = base::format("{} credentials are used, and {} is the limit", use.size(),
                                          kMaximumCredentials),
                     .advice = "remove names from credentials.use",
                     .where = use.back().origin.describe()};
    }
    for (const config::Item& item : use) {
        Result<Credential> credential = resolve_one(layers, item.text, item.origin);
        if (!credential) return credential.error();
        resolved.credentials.push_back(*std::move(credential));
    }
    if (Status alone = check_variables(resolved.credentials); !alone) return alone.error();
    return resolved;
}

// Threat: --network open would go around the administrator's requests.block
// (tests/credentials/resolve_test.cc).
Status check_network(const Resolved& resolved, const policy::Policy& policy) {
    using policy::NetworkMode;
    const NetworkMode mode = policy.network.mode;
    bool is_open = mode == NetworkMode::open;
    if (!is_open && mode != NetworkMode::isolated) return base::success();
    std::string where = policy.network.mode_origin.describe();
    std::string advice = "use --network filtered or --network proxied";
    if (!resolved.credentials.empty()) {
        return Error{.what = base::format("the credential {} needs the gateway, and network.mode is {}",
                                          resolved.credentials.front().name, to_text(mode)),
                     .advice = std::move(advice),
                     .where = std::move(where)};
    }
    if (!is_open || !resolved.has_rules) return base::success();
    return Error{.what = "rules about requests need the gateway, and network.mode is open",
                 .advice = std::move(advice),
                 .where = std::move(where)};
}

}  // namespace credentials
