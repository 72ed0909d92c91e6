// SPDX-License-Identifier: MIT
#include "cli/arguments.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/verbs.h"

namespace {

using cli::Arguments;

base::Result<Arguments> parse(std::vector<std::string> words) {
    return cli::parse_arguments(words, base::Path::known("/work/app"));
}

std::string scalar(const Arguments& arguments, const char* key) {
    auto value = arguments.settings.find(key);
    return value == arguments.settings.end() ? "unset" : value->second.text;
}

std::vector<std::string> entries(const Arguments& arguments, const char* key) {
    std::vector<std::string> texts;
    auto value = arguments.settings.find(key);
    if (value == arguments.settings.end()) return texts;
    for (const config::Item& item : value->second.items) texts.push_back(item.text);
    return texts;
}

using Words = std::vector<std::string>;

TEST(Arguments, OptionsEndAtTheCommandWhoseWordsAreUntouched) {
    auto arguments = parse({"--network", "open", "bash", "--network", "--help", "--", "-c"});
    ASSERT_TRUE(arguments.ok());
    EXPECT_EQ(scalar(*arguments, "network.mode"), "open");
    EXPECT_EQ(arguments->verb, "");
    EXPECT_EQ(arguments->words, (Words{"bash", "--network", "--help", "--", "-c"}));
    EXPECT_FALSE(arguments->wants_help);
}

TEST(Arguments, AValueMayFollowAnEqualsSign) {
    auto arguments = parse({"--network=isolated", "--ro=/data", "true"});
    ASSERT_TRUE(arguments.ok());
    EXPECT_EQ(scalar(*arguments, "network.mode"), "isolated");
    EXPECT_EQ(entries(*arguments, "mounts.readonly"), (Words{"/data"}));
}

TEST(Arguments, EveryFlagOfTheTableIsAnOptionAndIsItsOrigin) {
    for (const config::Setting& setting : config::settings()) {
        if (setting.flag.empty()) continue;
        Words words{std::string(setting.flag)};
        if (setting.type != config::Type::boolean) {
            auto choices = config::choices_of(setting);
            words.push_back(choices.empty() ? "/value" : std::string(choices.back()));
            if (setting.type == config::Type::name_list) words.back() = "NAME";
            if (setting.key == "credentials.use") words.back() = "github";
            if (setting.type == config::Type::rule_list) words.back() = "example.org";
        }
        words.push_back("true");
        auto arguments = parse(words);
        ASSERT_TRUE(arguments.ok()) << setting.flag << ": " << arguments.error().line();
        ASSERT_TRUE(arguments->settings.contains(setting.key)) << setting.flag;
        EXPECT_EQ(arguments->settings.find(setting.key)->second.origin.describe(), setting.flag);
        EXPECT_EQ(arguments->words, (Words{"true"})) << setting.flag;
    }
}

TEST(Arguments, TheCommandOfASecretIsNotParsed) {
    auto arguments =
        parse({"secret", "add", "github", "--command", "gh", "auth", "token", "--json", "--help"});
    ASSERT_TRUE(arguments.ok()) << arguments.error().line();
    EXPECT_TRUE(arguments->has_own("--command"));
    EXPECT_FALSE(arguments->wants_json || arguments->wants_help);
    EXPECT_EQ(arguments->words, (Words{"add", "github", "gh", "auth", "token", "--json", "--help"}));
    arguments = parse({"secret", "add", "github", "--keyring", "a=b", "--keyring=c=d"});
    ASSERT_TRUE(arguments.ok()) << arguments.error().line();
    EXPECT_EQ(arguments->own_values.size(), 2u);
}

TEST(Arguments, EveryFlagThatHelpListsIsAnOption) {
    for (const cli::RunFlag& row : cli::run_flags()) {
        Words words{std::string(row.flag)};
        if (row.value_name == "KEY=VALUE") {
            words.push_back("memory=1G");
        } else if (!row.value_name.empty()) {
            words.push_back("value");
        }
        words.push_back("true");
        auto arguments = parse(words);
        ASSERT_TRUE(arguments.ok()) << row.flag;
        EXPECT_EQ(arguments->words, (Words{"true"})) << row.flag;
    }
    for (const cli::Verb& verb : cli::verbs()) {
        if (verb.flags.empty()) continue;
        for (std::string_view flag : base::split(verb.flags, ' ')) {
            EXPECT_TRUE(parse({std::string(verb.name), std::string(flag)}).ok()) << verb.name << " " << flag;
        }
    }
}

TEST(Arguments, AVerbsOwnOptionMayTakeAValue) {
    for (const Words& words : {Words{"deny", "--session", "4f2a", "3", "--reason", "not this one"},
                               Words{"deny", "3", "--session=4f2a", "--reason=not this one"}}) {
        auto arguments = parse(words);
        ASSERT_TRUE(arguments.ok()) << arguments.error().line();
        EXPECT_EQ(arguments->own_value("--session"), "4f2a");
        EXPECT_EQ(arguments->own_value("--reason"), "not this one");
        EXPECT_TRUE(arguments->has_own("--session"));
        EXPECT_EQ(arguments->words, (Words{"3"}));
    }
    EXPECT_EQ(parse({"allow", "a.example", "--session=aaaa", "--session=bbbb"})->own_value("--session"),
              "bbbb");
    EXPECT_EQ(parse({"pending"})->own_value("--session"), "");
    // An unset variable in a script must not select the only running session.
    EXPECT_FALSE(parse({"block", "a.example", "--session", ""}).ok());
    EXPECT_FALSE(parse({"block", "a.example", "--session="}).ok());
    EXPECT_FALSE(parse({"block", "a.example", "--session"}).ok());
    EXPECT_FALSE(parse({"stop", "--now=yes", "aaaa"}).ok());
    EXPECT_FALSE(parse({"allow", "a.example", "--reason", "none"}).ok());
    EXPECT_FALSE(parse({"--session", "aaaa", "allow", "a.example"}).ok());
}

TEST(Arguments, ALimitIsNamedByItsKey) {
    auto arguments = parse({"--limit", "memory=2G", "--limit=limits.wall_time=10m", "bash"});
    ASSERT_TRUE(arguments.ok()) << arguments.error().line();
    EXPECT_EQ(scalar(*arguments, "limits.memory"), "2147483648");
    EXPECT_EQ(scalar(*arguments, "limits.wall_time"), "600");
    EXPECT_EQ(arguments->settings.find("limits.memory")->second.origin.describe(), "--limit");
    EXPECT_EQ(arguments->words, (Words{"bash"}));
    for (const Words& wrong : {Words{"--limit"},
                               {"--limit", "memory"},
                               {"--limit", "memory="},
                               {"--limit", "memory=much"},
                               {"--limit", "=1"}}) {
        EXPECT_FALSE(parse(wrong).ok()) << wrong.back();
    }
    auto mistyped = parse({"--limit", "memroy=1G", "bash"});
    ASSERT_FALSE(mistyped.ok());
    EXPECT_NE(mistyped.error().line().find("did you mean memory?"), std::string::npos);
}

TEST(Arguments, ASwitchTakesNoWordButMayBeTurnedOff) {
    EXPECT_EQ(scalar(*parse({"--read-only", "bash"}), "project.read_only"), "true");
    EXPECT_EQ(scalar(*parse({"--quiet=false", "bash"}), "ui.quiet"), "false");
    EXPECT_EQ(scalar(*parse({"-q", "bash"}), "ui.quiet"), "true");
    EXPECT_EQ(scalar(*parse({"-v", "bash"}), "ui.verbose"), "true");
}

TEST(Arguments, ListsGrowAndScalarsAreReplaced) {
    auto arguments = parse({"--ro", "/a", "--ro", "/b", "--network", "open", "--network", "isolated", "x"});
    ASSERT_TRUE(arguments.ok());
    EXPECT_EQ(entries(*arguments, "mounts.readonly"), (Words{"/a", "/b"}));
    EXPECT_EQ(scalar(*arguments, "network.mode"), "isolated");
}

TEST(Arguments, RelativePathsBecomeAbsoluteAndHomeStaysForTheMerge) {
    auto arguments = parse({"--ro", "../data", "--rw", "~/out", "--hide=.", "--project", "sub", "x"});
    ASSERT_TRUE(arguments.ok());
    EXPECT_EQ(entries(*arguments, "mounts.readonly"), (Words{"/work/data"}));
    EXPECT_EQ(entries(*arguments, "mounts.writable"), (Words{"~/out"}));
    EXPECT_EQ(entries(*arguments, "mounts.hidden"), (Words{"/work/app"}));
    EXPECT_EQ(arguments->project, "/work/app/sub");
}

TEST(Arguments, EnvLetsANameThroughOrSetsIt) {
    auto arguments = parse({"--env", "TOKEN", "--env", "LEVEL=a=b", "--env=EMPTY=", "x"});
    ASSERT_TRUE(arguments.ok());
    EXPECT_EQ(entries(*arguments, "env.allow"), (Words{"TOKEN"}));
    EXPECT_EQ(entries(*arguments, "env.set"), (Words{"LEVEL=a=b", "EMPTY="}));
}

TEST(Arguments, AVerbIsAVerbUnlessDashesStandInFront) {
    EXPECT_EQ(parse({"doctor"})->verb, "doctor");
    auto command = parse({"--", "doctor", "--json"});
    EXPECT_EQ(command->verb, "");
    EXPECT_EQ(command->words, (Words{"doctor", "--json"}));
    EXPECT_EQ(parse({"bash", "doctor"})->verb, "");
}

TEST(Arguments, OptionsOfAVerbMayStandAnywhere) {
    auto arguments = parse({"--network", "open", "why", "path", "--json", "/x", "--write", "--ro", "/y"});
    ASSERT_TRUE(arguments.ok());
    EXPECT_EQ(arguments->words, (Words{"path", "/x"}));
    EXPECT_TRUE(arguments->wants_json);
    EXPECT_TRUE(arguments->has_own("--write"));
    EXPECT_EQ(entries(*arguments, "mounts.readonly"), (Words{"/y"}));
}

TEST(Arguments, AVerbThatTakesACommandLeavesItsWordsAlone) {
    auto arguments = parse({"plan", "--json", "make", "--json", "--bogus"});
    ASSERT_TRUE(arguments.ok());
    EXPECT_TRUE(arguments->wants_json);
    EXPECT_EQ(arguments->words, (Words{"make", "--json", "--bogus"}));
    EXPECT_EQ(parse({"run", "--", "run", "x"})->words, (Words{"run", "x"}));
}

TEST(Arguments, TheCommandOfExecIsAfterDashes) {
    auto arguments =
        parse({"exec", "-T", "--cwd", "src", "4f2a", "--env", "A", "--", "make", "-j2", "--", "x"});
    ASSERT_TRUE(arguments.ok());
    EXPECT_EQ(arguments->words, (Words{"4f2a"}));
    EXPECT_EQ(arguments->command, (Words{"make", "-j2", "--", "x"}));
    EXPECT_TRUE(arguments->has_own("--streams"));
    EXPECT_EQ(arguments->own_value("--cwd"), "src");
    EXPECT_EQ(entries(*arguments, "env.allow"), (Words{"A"}));
    arguments = parse({"exec", "--", "4f2a"});
    ASSERT_TRUE(arguments.ok());
    EXPECT_TRUE(arguments->words.empty());
    EXPECT_EQ(arguments->command, (Words{"4f2a"}));
}

TEST(Arguments, AMistakeInExecIsNeverTheCommandsStatus) {
    auto arguments = parse({"exec", "--no-such-option", "--", "true"});
    ASSERT_FALSE(arguments.ok());
    EXPECT_EQ(arguments.error().exit_code, base::ExitCode::jail_failed);
}

TEST(Arguments, AnUnknownOptionNamesTheNearestKnownOne) {
    auto arguments = parse({"--netwrok", "open", "bash"});
    ASSERT_FALSE(arguments.ok());
    EXPECT_EQ(arguments.error().line(), "unknown option --netwrok; did you mean --network?");
    EXPECT_EQ(parse({"config", "show", "--orign"}).error().advice, "did you mean --origin?");
}

TEST(Arguments, AnOptionOfAVerbIsUnknownElsewhere) {
    EXPECT_FALSE(parse({"--write", "bash"}).ok());
    EXPECT_FALSE(parse({"doctor", "--write"}).ok());
}

TEST(Arguments, AMissingOrEmptyValueIsAnErrorAndNeverSwallowed) {
    EXPECT_EQ(parse({"--network"}).error().what, "--network needs a value");
    EXPECT_EQ(parse({"--ro", "", "bash"}).error().what, "--ro needs a value");
    EXPECT_EQ(parse({"--project=", "bash"}).error().what, "--project needs a value");
    EXPECT_EQ(parse({"--dry-run=yes", "bash"}).error().what, "--dry-run takes no value");
}

TEST(Arguments, AWrongChoiceIsRefused) {
    EXPECT_FALSE(parse({"--network", "opne", "bash"}).ok());
}

// A script must be able to distinguish our refusal from the command's own status 2.
TEST(Arguments, AMistakeInARunIsNeverTheCommandsStatus) {
    EXPECT_EQ(parse({"--bogus", "bash"}).error().exit_code, base::ExitCode::jail_failed);
    EXPECT_EQ(parse({"run", "--bogus", "bash"}).error().exit_code, base::ExitCode::jail_failed);
    EXPECT_EQ(parse({"why", "--bogus"}).error().exit_code, base::ExitCode::usage);
}

TEST(Arguments, NoWordAtAllIsNotTheSameAsNoCommand) {
    EXPECT_TRUE(parse({})->is_empty);
    auto no_command = parse({"--quiet"});
    EXPECT_FALSE(no_command->is_empty);
    EXPECT_TRUE(no_command->words.empty());
}

TEST(Arguments, ALoneDashIsAWord) {
    EXPECT_EQ(parse({"-"})->words, (Words{"-"}));
}

TEST(Arguments, TheWordThatAnOptionTookIsRemembered) {
    auto arguments = parse({"--quiet", "--rw", "ls"});
    ASSERT_TRUE(arguments.ok());
    EXPECT_EQ(arguments->last_taken, std::pair(std::string("--rw"), std::string("ls")));
    EXPECT_TRUE(parse({"--rw=ls"})->last_taken.first.empty());
}

}  // namespace
