// SPDX-License-Identifier: MIT
// Layers for tests, written as TOML as a user would.
#pragma once

#include <gtest/gtest.h>

#include "config/layer.h"
#include "policy/merge.h"

namespace test {

inline config::LayerFile layer(config::Layer kind, std::string_view toml) {
    static const char* const kFiles[] = {"",
                                         "/etc/agent-sandbox/config.toml",
                                         "profile test",
                                         "/home/ann/.config/agent-sandbox/config.toml",
                                         "/home/ann/app/.agent-sandbox.toml",
                                         "presets/test.toml",
                                         "",
                                         ""};
    config::ParsedFile parsed = config::parse_layer(kind, kFiles[static_cast<int>(kind)], toml);
    for (const base::Error& problem : parsed.problems) ADD_FAILURE() << problem.line();
    return parsed.content;
}

inline policy::PathMeaning paths() {
    return {.home = base::Path::known("/home/ann"), .canonical = [](const base::Path& path) { return path; }};
}

struct Toml {
    std::string_view admin, user, project;
    bool is_trusted = false;
    const config::LayerFile* profile = nullptr;
};

inline base::Result<policy::Effective> merged(const Toml& toml) {
    policy::Layers layers;
    if (!toml.admin.empty()) layers.admin.push_back(layer(config::Layer::admin, toml.admin));
    if (toml.profile != nullptr) layers.profile.push_back(*toml.profile);
    if (!toml.user.empty()) layers.user.push_back(layer(config::Layer::user, toml.user));
    if (!toml.project.empty()) {
        layers.project.push_back({layer(config::Layer::project, toml.project), "digest", toml.is_trusted});
    }
    return policy::merge(layers, paths());
}

inline std::vector<std::string> texts(const std::vector<config::Item>& items) {
    std::vector<std::string> result;
    for (const config::Item& item : items) result.push_back(item.text);
    return result;
}

}  // namespace test
