// SPDX-License-Identifier: MIT
#include "config/reference/reference.h"
#include "base/file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/places.h"
#include "base/text.h"
#include "config/data.h"
#include "config/layer.h"
#include "config/settings.h"

namespace {

// Removes the # before every setting; prose has a blank after its #.
std::string uncommented(std::string_view text) {
    std::string result;
    for (std::string_view line : base::split(text, '\n')) {
        bool is_setting = line.size() > 1 && line[0] == '#' && line[1] != ' ';
        result += std::string(is_setting ? line.substr(1) : line) + "\n";
    }
    return result;
}

TEST(StartingFile, SaysNothingUntilSomethingIsUncommented) {
    config::ParsedFile parsed =
        config::parse_layer(config::Layer::user, "config.toml", config::starting_file());
    EXPECT_TRUE(parsed.problems.empty());
    EXPECT_TRUE(parsed.content.values.empty());
    EXPECT_FALSE(parsed.content.match_project.has_value());
}

TEST(StartingFile, IsValidWithEverySettingUncommented) {
    config::ParsedFile parsed =
        config::parse_layer(config::Layer::user, "config.toml", uncommented(config::starting_file()));
    for (const base::Error& problem : parsed.problems) ADD_FAILURE() << problem.line();
    for (const config::Setting& setting : config::settings()) {
        EXPECT_TRUE(parsed.content.values.contains(setting.key)) << setting.key;
    }
    EXPECT_TRUE(parsed.content.match_project.has_value());
}

TEST(StartingFile, ShowsTheBuiltInScalars) {
    config::ParsedFile parsed =
        config::parse_layer(config::Layer::user, "config.toml", uncommented(config::starting_file()));
    for (const config::Setting& setting : config::settings()) {
        if (config::is_list(setting.type) || setting.fallback.empty()) continue;
        auto shown = parsed.content.values.find(setting.key);
        ASSERT_NE(shown, parsed.content.values.end()) << setting.key;
        EXPECT_EQ(shown->second.text, config::canonical_text(setting, setting.fallback).value())
            << setting.key;
    }
}

TEST(ReferencePage, HasARowForEverySettingWithFlagAndVariable) {
    std::string page = config::reference_page();
    for (const config::Setting& setting : config::settings()) {
        size_t at = page.find("| `" + std::string(setting.key) + "` |");
        ASSERT_NE(at, std::string::npos) << setting.key;
        std::string_view row = std::string_view(page).substr(at, page.find('\n', at) - at);
        EXPECT_NE(row.find(setting.help), std::string_view::npos) << setting.key;
        EXPECT_NE(row.find(setting.flag), std::string_view::npos) << setting.key;
        EXPECT_NE(row.find(config::variable_of(setting)), std::string_view::npos) << setting.key;
    }
}

TEST(ReferencePage, LinksEveryListAndShowsEveryPresetOfShare) {
    std::string page = config::reference_page();
    const std::filesystem::path share = std::filesystem::path(test::data()).parent_path() / "share";
    size_t lists = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(share)) {
        if (entry.path().extension() != ".list") continue;
        ++lists;
        std::string name = std::filesystem::relative(entry.path(), share).replace_extension().string();
        EXPECT_NE(page.find("(../share/" + name + ".list) |"), std::string::npos) << name;
    }
    EXPECT_GT(lists, 10u);
    for (const config::DataFile& file : config::data_files()) {
        if (!file.name.starts_with("presets/")) continue;
        EXPECT_NE(page.find(file.content), std::string::npos) << file.name;
    }
}

TEST(ReferencePage, IsTheOneInTheDocs) {
    auto page = base::read_file(
        (std::filesystem::path(test::data()).parent_path() / "docs/configuration.md").string());
    ASSERT_TRUE(page);
    EXPECT_TRUE(*page == config::reference_page())
        << "write it anew: build/agent-sandbox help --reference >docs/configuration.md";
}

}  // namespace
