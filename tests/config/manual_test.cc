// SPDX-License-Identifier: MIT
// The settings in agent-sandbox.toml(5): each is there exactly once.
#include <gtest/gtest.h>

#include "config/layer.h"
#include "config/reference/manual.h"
#include "config/reference/reference.h"
#include "config/settings.h"

namespace {

// The text between the fences in the entry of a setting, without the tabs.
std::string example_of(const std::string& page, std::string_view key) {
    size_t entry = page.find("*" + config::scdoc::escaped(key) + "*\n\t");
    if (entry == std::string::npos) return "";
    constexpr std::string_view kFence = "\t```\n";
    size_t begin = page.find(kFence, entry) + kFence.size();
    std::string text = page.substr(begin, page.find(kFence, begin) - begin);
    std::erase(text, '\t');
    return text;
}

TEST(SettingsManual, HasAnExampleOfEverySettingThatParses) {
    std::string page = config::settings_manual();
    for (const config::Setting& setting : config::settings()) {
        std::string example = example_of(page, setting.key);
        config::ParsedFile parsed = config::parse_layer(config::Layer::admin, "page", example);
        for (const base::Error& problem : parsed.problems)
            ADD_FAILURE() << setting.key << ": " << problem.line() << "\n" << example;
        EXPECT_EQ(parsed.content.values.size(), 1u) << setting.key << "\n" << example;
        EXPECT_TRUE(parsed.content.values.contains(setting.key)) << setting.key << "\n" << example;
    }
}

TEST(SettingsManual, NamesFlagAndVariable) {
    std::string page = config::settings_manual();
    for (const config::Setting& setting : config::settings()) {
        if (!setting.flag.empty()) {
            EXPECT_NE(page.find("Option: *" + std::string(setting.flag) + "*"), std::string::npos)
                << setting.key;
        }
        std::string variable = config::variable_of(setting);
        if (!variable.empty()) {
            EXPECT_NE(page.find(config::scdoc::bold(variable)), std::string::npos) << variable;
        }
    }
}

TEST(Scdoc, EscapesWhatWouldBeEmphasis) {
    EXPECT_EQ(config::scdoc::escaped("limits.* and a_b"), "limits.\\* and a\\_b");
    EXPECT_EQ(config::scdoc::sentence("how many; 0 is none"), "How many; 0 is none.");
    EXPECT_EQ(config::scdoc::sentence("/tmp belongs to the jail"), "/tmp belongs to the jail.");
    EXPECT_EQ(config::scdoc::literal("a\nb"), "\t```\n\ta\n\tb\n\t```\n\n");
}

}  // namespace
