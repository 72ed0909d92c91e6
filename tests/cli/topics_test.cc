// SPDX-License-Identifier: MIT
// The help topics and the themes: each verb and each flag is there exactly once.
#include "cli/help/topics.h"

#include <gtest/gtest.h>

#include <map>

#include "base/text.h"

namespace {

TEST(Themes, HoldEveryVerbAndEveryFlagOnce) {
    std::map<std::string_view, int> found;
    for (const cli::Theme& theme : cli::themes()) {
        for (const cli::Verb* verb : cli::verbs_of(theme)) ++found[verb->name];
        for (const cli::RunFlag* flag : cli::run_flags_of(theme)) ++found[flag->flag];
        for (const config::Setting* setting : cli::flagged_settings_of(theme)) ++found[setting->flag];
    }
    for (const cli::Verb& verb : cli::verbs()) EXPECT_EQ(found[verb.name], 1) << verb.name;
    for (const cli::RunFlag& flag : cli::run_flags()) EXPECT_EQ(found[flag.flag], 1) << flag.flag;
    for (const config::Setting& setting : config::settings()) {
        if (setting.flag.empty()) continue;
        EXPECT_EQ(found[setting.flag], 1) << setting.flag;
    }
}

TEST(Topics, HaveATextThatFits80Columns) {
    for (const cli::Topic& topic : cli::topics()) {
        if (topic.name == "backends" || topic.name == "settings") continue;
        std::string_view text = cli::topic_text(topic.name);
        EXPECT_TRUE(text.starts_with("# ")) << topic.name;
        for (std::string_view line : base::split(text, '\n')) EXPECT_LE(line.size(), 80u) << line;
        EXPECT_EQ(cli::find_verb(topic.name), nullptr) << topic.name << " would hide a verb";
    }
    EXPECT_EQ(cli::topic_text("nothing"), "");
}

TEST(Placeholders, AreShortAndSayWhatIsExpected) {
    for (const config::Setting& setting : config::settings()) {
        if (setting.flag.empty()) continue;
        std::string_view placeholder = cli::placeholder_of(setting);
        EXPECT_EQ(placeholder.empty(), setting.type == config::Type::boolean) << setting.flag;
        EXPECT_LE(placeholder.size(), 13u) << setting.flag;
    }
    EXPECT_EQ(cli::placeholder_of(*config::find_flag("--gpu")), "on|auto|off");
    EXPECT_EQ(cli::placeholder_of(*config::find_flag("--network")), "MODE");
}

}  // namespace
