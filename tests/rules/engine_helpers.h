// SPDX-License-Identifier: MIT
// Short functions that make engines and questions.
#pragma once

#include <gtest/gtest.h>

#include "rules/engine.h"

namespace network {

using config::Item;
using config::Layer;
using policy::NetworkMode;

using Texts = std::initializer_list<const char*>;

inline std::vector<Item> items(Layer layer, Texts texts) {
    std::vector<Item> list;
    for (const char* text : texts)
        list.push_back({text, {.layer = layer, .file = std::string(config::layer_name(layer)), .line = 1}});
    return list;
}

inline std::vector<Item> user(Texts texts) {
    return items(Layer::user, texts);
}
inline std::vector<Item> admin(Texts texts) {
    return items(Layer::admin, texts);
}
inline std::vector<Item> operator+(std::vector<Item> left, const std::vector<Item>& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

inline Engine engine(const EngineSettings& settings) {
    auto made = Engine::make(settings);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().line());
    return *made;
}

inline Question question(std::string_view host, uint16_t port = 443, Transport transport = Transport::tcp) {
    return {*parse_host(host), port, transport};
}

inline bool opens(const Engine& rules, std::string_view host, uint16_t port = 443,
                  Transport transport = Transport::tcp) {
    return rules.decide(question(host, port, transport)).is_allowed();
}

}  // namespace network
