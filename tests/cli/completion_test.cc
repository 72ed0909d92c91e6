// SPDX-License-Identifier: MIT
// tests/transcripts/completion.bats tests the same in real shells.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "cli/arguments.h"
#include "cli/completion/complete.h"
#include "config/data.h"
#include "config/settings.h"
#include "selftest/runner.h"

namespace {

using cli::Candidate;
using cli::Completion;
using Kind = cli::Completion::Kind;
using Words = std::vector<std::string>;

// The machine has one name of each kind: "@session" is "a-session".
Completion complete(const Words& words) {
    return cli::complete(
        words, [](std::string_view kind) { return cli::Candidates{{"a-" + std::string(kind.substr(1))}}; });
}

Words offered(const Words& words) {
    Words found;
    for (const Candidate& candidate : complete(words).candidates) found.push_back(candidate.word);
    return found;
}

bool offers(const Words& words, std::string_view wanted) {
    Words all = offered(words);
    return std::ranges::find(all, wanted) != all.end();
}

std::string help_of(const Words& words, std::string_view wanted) {
    Completion completion = complete(words);
    auto found = std::ranges::find(completion.candidates, wanted, &Candidate::word);
    return found == completion.candidates.end() ? "not offered" : found->help;
}

TEST(Complete, OffersEveryVerbAndEveryFlagWithItsHelp) {
    EXPECT_EQ(complete({""}).kind, Kind::programs);
    EXPECT_EQ(complete({}).kind, Kind::programs);
    for (const cli::Verb& verb : cli::verbs()) EXPECT_EQ(help_of({""}, verb.name), verb.help);
    EXPECT_FALSE(offers({""}, "__complete"));
    EXPECT_EQ(complete({"--"}).kind, Kind::flags);
    for (const cli::RunFlag& flag : cli::run_flags()) EXPECT_EQ(help_of({"--"}, flag.flag), flag.help);
    for (const config::Setting& setting : config::settings()) {
        if (setting.flag.empty()) continue;
        EXPECT_EQ(help_of({"--"}, setting.flag), setting.help);
        EXPECT_EQ(help_of({"plan", "--"}, setting.flag), setting.help);
    }
}

TEST(Complete, OffersTheValuesOfEverySettingWithChoices) {
    for (const config::Setting& setting : config::settings()) {
        if (setting.flag.empty() || setting.type != config::Type::choice) continue;
        std::vector<std::string_view> choices = config::choices_of(setting);
        Words wanted(choices.begin(), choices.end());
        std::string flag(setting.flag);
        EXPECT_EQ(offered({flag, ""}), wanted) << flag;
        EXPECT_EQ(offered({"--quiet", flag + "="}), wanted) << flag;
        EXPECT_EQ(complete({flag + "=x"}).front, flag + "=");
    }
    EXPECT_EQ(offered({"--network", ""}), (Words{"open", "filtered", "proxied", "isolated"}));
}

TEST(Complete, OffersFilesDirectoriesAndNames) {
    EXPECT_EQ(complete({"--ro", "x"}).kind, Kind::files);
    EXPECT_EQ(complete({"--ro=x"}).kind, Kind::files);
    EXPECT_EQ(complete({"--project", ""}).kind, Kind::directories);
    EXPECT_EQ(complete({"trust", ""}).kind, Kind::directories);
    EXPECT_EQ(complete({"why", "path", ""}).kind, Kind::files);
    EXPECT_EQ(complete({"config", "check", ""}).kind, Kind::files);
    EXPECT_EQ(offered({"--preset", ""}), (Words{"a-preset"}));
    EXPECT_EQ(offered({"--agent", ""}), (Words{"a-profile"}));
    EXPECT_EQ(offered({"--credential", ""}), (Words{"a-credential"}));
    EXPECT_EQ(offered({"profiles", "show", ""}), (Words{"a-profile"}));
    EXPECT_EQ(offered({"--env", ""}), (Words{"a-variable"}));
    EXPECT_EQ(offered({"why", "env", ""}), (Words{"a-variable"}));
    EXPECT_EQ(offered({"stop", ""}), (Words{"a-session"}));
    EXPECT_EQ(offered({"stop", "aaaa", ""}), (Words{"a-session"}));
    EXPECT_EQ(offered({"allow", "example.org", "--session", ""}), (Words{"a-session"}));
    EXPECT_TRUE(offers({"--allow-host", ""}, "@github"));
    EXPECT_EQ(complete({"--limit", ""}).kind, Kind::openings);
    EXPECT_TRUE(offers({"--limit", ""}, "memory="));
}

TEST(Complete, OffersTheWordsOfAVerbAndNothingElse) {
    EXPECT_EQ(offered({"config", ""}), (Words{"init", "show", "check", "path", "import"}));
    EXPECT_EQ(help_of({"config", ""}, "path"),
              "the files that count here, in the order in which they are read");
    EXPECT_TRUE(offers({"help", ""}, "untrust"));
    EXPECT_TRUE(offers({"help", ""}, "network"));
    EXPECT_EQ(offered({"stop", "-"}), (Words{"--now"}));
    EXPECT_EQ(help_of({"stop", "-"}, "--now"), "kills at once");
    EXPECT_EQ(help_of({"deny", "-"}, "--reason"), "is told to the agent");
    std::vector<std::string_view> groups = selftest::group_names();
    EXPECT_EQ(offered({"selftest", "files", ""}), Words(groups.begin(), groups.end()));
    for (const Words& words :
         {Words{"ps", ""}, {"why", "host", ""}, {"config", "show", ""}, {"deny", "--reason", ""}}) {
        EXPECT_EQ(complete(words).kind, Kind::words) << words[0];
        EXPECT_EQ(offered(words), Words{}) << words[0];
    }
}

TEST(Complete, OffersCommandsAndOptionsOfSlurm) {
    EXPECT_TRUE(offers({"why", "slurm", ""}, "sbatch"));
    EXPECT_NE(help_of({"why", "slurm", ""}, "scrontab"), "");
    EXPECT_TRUE(offers({"why", "slurm", "sbatch", "--"}, "--partition"));
    EXPECT_TRUE(offers({"why", "slurm", "--"}, "--partition"));
    EXPECT_EQ(offered({"why", "slurm", "scrontab", ""}), Words{});
}

TEST(Complete, LeavesTheCommandAlone) {
    EXPECT_EQ(complete({"cat", "--netw"}).kind, Kind::command);
    EXPECT_EQ(complete({"cat", "--netw"}).index, 0u);
    EXPECT_EQ(complete({"--network", "open", "git", "ch"}).index, 2u);
    EXPECT_EQ(complete({"run", "--quiet", "git", "ch"}).index, 2u);
    Completion behind_dashes = complete({"--", "config", "im"});
    EXPECT_EQ(behind_dashes.kind, Kind::command);
    EXPECT_EQ(behind_dashes.index, 1u);
    for (const Words& words : {Words{"--", "unt"}, {"run", "unt"}, {"plan", "--ro", "x", ""}}) {
        EXPECT_EQ(complete(words).kind, Kind::programs) << words[0];
        EXPECT_EQ(offered(words), Words{}) << words[0];
    }
    EXPECT_EQ(complete({"--limit", "memory=2G", "bas"}).kind, Kind::programs);
}

TEST(Complete, EveryEntryOfAVerbStandsForSomething) {
    auto unknown = [](std::string_view kind) {
        constexpr std::string_view kKnown[] = {"@session", "@preset", "@profile", "@variable", "@credential"};
        EXPECT_NE(std::ranges::find(kKnown, kind), std::end(kKnown)) << kind;
        return cli::Candidates{};
    };
    for (const cli::Verb& verb : cli::verbs()) {
        Words firsts = offered({std::string(verb.name), ""});
        firsts.emplace_back("x");
        for (const std::string& first : firsts)
            cli::complete(Words{std::string(verb.name), first, ""}, unknown);
    }
}

TEST(CompletionScripts, AskTheProgramForTheirShell) {
    for (std::string shell : {"bash", "zsh", "fish"}) {
        const config::DataFile* script = config::find_data_file("completion/agent-sandbox." + shell);
        ASSERT_NE(script, nullptr) << shell;
        EXPECT_NE(script->content.find("agent-sandbox __complete " + shell + " -- "), std::string::npos);
    }
}

}  // namespace
