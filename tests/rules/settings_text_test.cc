// SPDX-License-Identifier: MIT
#include "rules/rules_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/file.h"
#include "base/places.h"
#include "base/text.h"
#include "rules/engine_helpers.h"
#include "rules/settings_properties.h"

namespace network {
namespace {

void expect_same(const config::Origin& read, const config::Origin& written) {
    EXPECT_EQ(read.layer, written.layer);
    EXPECT_EQ(read.describe(), written.describe());
}

void expect_same(const std::vector<Item>& read, const std::vector<Item>& written) {
    ASSERT_EQ(read.size(), written.size());
    for (size_t i = 0; i < read.size(); ++i) {
        EXPECT_EQ(read[i].text, written[i].text);
        expect_same(read[i].origin, written[i].origin);
    }
}

void expect_same(const EngineSettings& read, const EngineSettings& written) {
    EXPECT_EQ(read.mode, written.mode);
    expect_same(read.mode_origin, written.mode_origin);
    expect_same(read.literals_origin, written.literals_origin);
    expect_same(read.block, written.block);
    expect_same(read.allow, written.allow);
    expect_same(read.private_networks, written.private_networks);
    expect_same(read.host_services, written.host_services);
    expect_same(read.udp, written.udp);
    EXPECT_EQ(read.are_literals_open, written.are_literals_open);
    EXPECT_EQ(read.has_shipped_list, written.has_shipped_list);
    EXPECT_EQ(read.is_asking, written.is_asking);
    EXPECT_EQ(read.is_observing, written.is_observing);
    ASSERT_EQ(read.bundles.size(), written.bundles.size());
    for (size_t i = 0; i < read.bundles.size(); ++i) {
        EXPECT_EQ(read.bundles[i].name, written.bundles[i].name);
        EXPECT_EQ(read.bundles[i].entries, written.bundles[i].entries);
    }
}

class Generator {
  public:
    size_t below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random_); }
    std::string text() {
        constexpr std::string_view kBytes = "ab.*:/[]@\n \xc3\xbc\xff\"\\0";
        std::string made;
        for (size_t left = below(12); left > 0; --left) made += kBytes[below(kBytes.size())];
        return made;
    }
    config::Origin origin() {
        auto layer = static_cast<Layer>(below(static_cast<size_t>(Layer::command_line) + 1));
        bool is_file = below(2) == 0;
        return {.layer = layer,
                .file = is_file ? "/etc/" + text() : "",
                .line = is_file ? static_cast<int>(below(100)) : 0,
                .name = is_file ? "" : text()};
    }
    std::vector<Item> items() {
        std::vector<Item> made(below(4));
        for (Item& item : made) item = {text(), origin()};
        return made;
    }
    EngineSettings settings() {
        EngineSettings made{.mode = static_cast<NetworkMode>(below(4)), .mode_origin = origin()};
        made.literals_origin = origin();
        for (auto list : {&EngineSettings::block, &EngineSettings::allow, &EngineSettings::private_networks,
                          &EngineSettings::host_services, &EngineSettings::udp})
            made.*list = items();
        for (auto which : {&EngineSettings::are_literals_open, &EngineSettings::has_shipped_list,
                           &EngineSettings::is_asking, &EngineSettings::is_observing})
            made.*which = below(2) == 1;
        made.bundles.resize(below(3));
        for (Bundle& bundle : made.bundles) {
            bundle.name = text();
            bundle.entries.resize(below(3));
            for (std::string& entry : bundle.entries) entry = text();
        }
        return made;
    }

  private:
    std::mt19937 random_{11};
};

TEST(SettingsText, IsReadAsItWasWritten) {
    Generator generator;
    for (int round = 0; round < 500; ++round) {
        EngineSettings written = generator.settings();
        std::vector<uint16_t> types(generator.below(4));
        for (uint16_t& type : types) type = static_cast<uint16_t>(generator.below(65536));
        auto read = decode_settings(encode_settings(written, types));
        ASSERT_TRUE(read) << read.error().line();
        EXPECT_EQ(read->passed_types, types);
        ASSERT_NO_FATAL_FAILURE(expect_same(read->rules, written));
    }
}

TEST(SettingsText, DecidesAsTheRulesThatItWasMadeOf) {
    EngineSettings written{.mode = NetworkMode::proxied,
                           .block = admin({"evil.example"}),
                           .allow = user({"@github", "good.example:443"}),
                           .private_networks = user({"10.1.0.0/16"})};
    auto read = decode_settings(encode_settings(written, {}));
    ASSERT_TRUE(read);
    Engine before = engine(written), after = engine(read->rules);
    for (const char* host :
         {"evil.example", "good.example", "api.github.com", "other.example", "10.1.2.3", "10.2.2.3"}) {
        Verdict expected = before.decide(question(host)), same = after.decide(question(host));
        EXPECT_EQ(same.decision, expected.decision) << host;
        EXPECT_EQ(same.reason, expected.reason) << host;
        EXPECT_EQ(same.origin.describe(), expected.origin.describe()) << host;
        EXPECT_EQ(same.change, expected.change) << host;
    }
}

TEST(SettingsText, DamageIsNoticed) {
    std::string text = encode_settings({.block = user({"a.example"})}, {15});
    for (size_t size = 0; size < text.size(); ++size)
        EXPECT_FALSE(decode_settings(text.substr(0, size))) << size;
    EXPECT_FALSE(decode_settings(text + '\0'));
    EXPECT_FALSE(decode_settings("something else"));
    std::string mode = encode_settings({}, {});
    size_t at = mode.find('\0') + 1;
    mode[at] = '9';
    EXPECT_FALSE(decode_settings(mode)) << "a mode that there is not";
}

TEST(SettingsText, PropertiesHoldForSeedsAndDamagedSeeds) {
    Generator generator;
    std::vector<std::string> seeds;
    for (const auto& entry : std::filesystem::directory_iterator(test::data("/fuzz/rules/corpus/settings")))
        seeds.push_back(*base::read_file(entry.path().string()));
    EXPECT_GE(seeds.size(), 3u);
    constexpr std::string_view kBytes(
        "\0"
        "0129a\xff",
        7);
    for (const std::string& seed : seeds) {
        EXPECT_TRUE(decode_settings(seed)) << base::printable(seed);
        for (int round = 0; round < 500; ++round) {
            std::string text = seed;
            for (size_t changes = generator.below(3); changes > 0; --changes) {
                bool is_inserted = generator.below(2) == 0;
                text.replace(generator.below(text.size()), is_inserted ? 0 : 1, 1,
                             kBytes[generator.below(kBytes.size())]);
            }
            ASSERT_EQ(broken_for_settings(text), nullptr) << base::printable(text);
        }
    }
}

}  // namespace
}  // namespace network
