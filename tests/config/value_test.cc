// SPDX-License-Identifier: MIT
#include "config/value.h"

#include <gtest/gtest.h>

namespace {

using config::Order;
using config::Setting;
using config::Type;

Setting of_type(Type type, std::string_view choices = "") {
    return {"some.key", type, Order::neutral, "", choices, "", false, "help"};
}

std::string canonical(const Setting& setting, std::string_view raw) {
    auto text = config::canonical_text(setting, raw);
    return text ? *text : "error: " + text.error().what;
}

std::string canonical(std::string_view key, std::string_view raw) {
    return canonical(*config::find_setting(key), raw);
}

bool is_refused(std::string_view key, std::string_view raw) {
    return canonical(key, raw).starts_with("error: ");
}

TEST(CanonicalText, ReadsTruthAsPeopleWriteIt) {
    for (const char* yes : {"true", "1", "yes", "on"}) EXPECT_EQ(canonical("ui.quiet", yes), "true");
    for (const char* no : {"false", "0", "no", "off"}) EXPECT_EQ(canonical("ui.quiet", no), "false");
    EXPECT_TRUE(is_refused("ui.quiet", "True"));
}

TEST(CanonicalText, TurnsSizesIntoBytes) {
    Setting size = of_type(Type::size);
    EXPECT_EQ(canonical(size, "512M"), "536870912");
    EXPECT_EQ(canonical(size, "4GiB"), "4294967296");
    EXPECT_EQ(canonical(size, "17"), "17");
    for (const char* bad : {"M", "-1", "4X", "4 G", "9999999999999999999", "9000000000T"}) {
        EXPECT_FALSE(config::canonical_text(size, bad).ok()) << bad;
    }
}

TEST(CanonicalText, TurnsDurationsIntoSeconds) {
    Setting duration = of_type(Type::duration);
    EXPECT_EQ(canonical(duration, "90s"), "90");
    EXPECT_EQ(canonical(duration, "10m"), "600");
    EXPECT_EQ(canonical(duration, "2h"), "7200");
    EXPECT_FALSE(config::canonical_text(duration, "2 weeks").ok());
}

TEST(CanonicalText, NamesTheChoiceThatWasMeant) {
    auto wrong = config::canonical_text(*config::find_setting("network.mode"), "filterd");
    ASSERT_FALSE(wrong.ok());
    EXPECT_NE(wrong.error().advice.find("'filtered' was probably meant"), std::string::npos);
    EXPECT_NE(wrong.error().advice.find("open, filtered, proxied or isolated"), std::string::npos);
}

TEST(CanonicalText, NormalisesPathsAndKeepsTheTilde) {
    EXPECT_EQ(canonical("mounts.readonly", "/data//set/./a/../b/"), "/data/set/b");
    EXPECT_EQ(canonical("mounts.readonly", "~/data/"), "~/data");
    EXPECT_EQ(canonical("mounts.readonly", "~"), "~");
}

TEST(CanonicalText, RefusesPathsThatAreNotWhatTheySeem) {
    for (const char* bad :
         {"data", "./data", "~ann/data", "$HOME/data", "/a/../../b", "~/../x", "/a\nb", "/data/*"}) {
        EXPECT_TRUE(is_refused("mounts.readonly", bad)) << bad;
    }
    EXPECT_TRUE(is_refused("mounts.readonly", ""));
    EXPECT_TRUE(is_refused("mounts.readonly", std::string_view("/a\0b", 4)));
}

TEST(CanonicalText, TakesPatternsOfDevicesOnly) {
    EXPECT_EQ(canonical("devices.allow", "/dev/nvidia*"), "/dev/nvidia*");
    EXPECT_TRUE(is_refused("mounts.hidden", "/dev/nvidia*"));
}

TEST(CanonicalText, MakesHomeEntriesRelative) {
    EXPECT_EQ(canonical("home.readonly", ".vimrc"), ".vimrc");
    EXPECT_EQ(canonical("home.readonly", "~/.config//nvim/"), ".config/nvim");
    for (const char* bad : {"/etc", "..", "a/../../b", ".", "~", "~ann/x", ".*rc"}) {
        EXPECT_TRUE(is_refused("home.readonly", bad)) << bad;
    }
}

TEST(CanonicalText, AllowsWildcardsInTheLastPartOfProjectEntriesOnly) {
    EXPECT_EQ(canonical("project.mask", ".env.*"), ".env.*");
    EXPECT_EQ(canonical("project.mask", "./conf/*.key"), "conf/*.key");
    for (const char* bad : {"*/secret", "../other", "/abs", "./."})
        EXPECT_TRUE(is_refused("project.mask", bad)) << bad;
}

TEST(CanonicalText, TellsNamesPatternsAndAssignmentsApart) {
    EXPECT_EQ(canonical("env.allow", "GH_TOKEN"), "GH_TOKEN");
    EXPECT_EQ(canonical("env.allow", "BASH_FUNC_foo%%"), "BASH_FUNC_foo%%");
    for (const char* bad : {"GH_*", "A=b", "1A", "A B", "A-B"})
        EXPECT_TRUE(is_refused("env.allow", bad)) << bad;
    EXPECT_EQ(canonical("env.block_patterns", "*password*/i"), "*password*/i");
    for (const char* bad : {"/i", "A B", "a/b"}) EXPECT_TRUE(is_refused("env.block_patterns", bad)) << bad;
}

TEST(CanonicalText, AcceptsEmptyValuesOfVariablesAndNoForgedOnes) {
    EXPECT_EQ(canonical("env.set", "A="), "A=");
    EXPECT_EQ(canonical("env.set", "A=b=c\nd"), "A=b=c\nd");
    for (const char* bad : {"A", "=b", "1A=b", "AGENT_SANDBOX=0", "AGENT_SANDBOX_SESSION=x"}) {
        EXPECT_TRUE(is_refused("env.set", bad)) << bad;
    }
    EXPECT_TRUE(is_refused("env.set", std::string_view("A=\0", 3)));
}

TEST(CanonicalText, NeverRepeatsTheValueOfAnAssignment) {
    EXPECT_EQ(canonical("env.set", "bad name=hunter2").find("hunter2"), std::string::npos);
}

TEST(CanonicalText, LocksOnlySettingsThatExist) {
    EXPECT_EQ(canonical("lock", "network.mode"), "network.mode");
    EXPECT_TRUE(is_refused("lock", "network.mod"));
    EXPECT_TRUE(is_refused("lock", "lock"));
}

TEST(CanonicalText, ShowsControlCharactersOnlyEscaped) {
    EXPECT_EQ(canonical("mounts.readonly", "/a\x1b[2J").find('\x1b'), std::string::npos);
}

TEST(CanonicalText, AcceptsEveryBuiltInDefault) {
    for (const Setting& setting : config::settings()) {
        if (setting.fallback.empty() || setting.fallback.starts_with('@')) continue;
        // Sizes and durations may have a unit there.
        std::string text = canonical(setting, setting.fallback);
        EXPECT_FALSE(text.starts_with("error: ")) << setting.key;
        bool has_unit = setting.type == config::Type::size || setting.type == config::Type::duration;
        if (has_unit) continue;
        EXPECT_EQ(text, setting.fallback) << setting.key;
    }
}

}  // namespace
