// SPDX-License-Identifier: MIT
#include "config/layer.h"

#include <gtest/gtest.h>

namespace {

using config::Layer;
using config::ParsedFile;

ParsedFile parse(std::string_view text, Layer layer = Layer::user) {
    return config::parse_layer(layer, "f.toml", text);
}

// The only problem of a file, as one line.
std::string problem_of(std::string_view text, Layer layer = Layer::user) {
    ParsedFile parsed = parse(text, layer);
    if (parsed.problems.size() != 1) return std::to_string(parsed.problems.size()) + " problems";
    return parsed.problems.front().line();
}

TEST(ParseLayer, ReadsSectionsListsAndTablesWithTheirOrigins) {
    ParsedFile parsed = parse(R"(lock = ["network.mode"]
[network]
mode = "isolated"
[mounts]
readonly = ["/data",
            "~/sets"]
[env]
set = { EDITOR = "vi", EMPTY = "" }
[project]
read_only = true
)");
    ASSERT_TRUE(parsed.problems.empty()) << parsed.problems.front().line();
    const config::Values& values = parsed.content.values;
    EXPECT_EQ(values.at("network.mode").text, "isolated");
    EXPECT_EQ(values.at("network.mode").origin.describe(), "f.toml:3");
    EXPECT_EQ(values.at("project.read_only").text, "true");
    ASSERT_EQ(values.at("mounts.readonly").items.size(), 2u);
    EXPECT_EQ(values.at("mounts.readonly").items[1].text, "~/sets");
    EXPECT_EQ(values.at("mounts.readonly").items[1].origin.describe(), "f.toml:6");
    ASSERT_EQ(values.at("env.set").items.size(), 2u);
    EXPECT_EQ(values.at("env.set").items[0].text, "EDITOR=vi");
    EXPECT_EQ(values.at("env.set").items[1].text, "EMPTY=");
    EXPECT_EQ(values.at("lock").items[0].text, "network.mode");
}

TEST(ParseLayer, AcceptsDottedKeysAndEmptyFiles) {
    EXPECT_EQ(parse("network.mode = \"open\"").content.values.at("network.mode").text, "open");
    EXPECT_TRUE(parse("").problems.empty());
    EXPECT_TRUE(parse("# nothing\n[network]\n").problems.empty());
}

TEST(ParseLayer, NamesTheNearestSettingForAnUnknownOne) {
    EXPECT_EQ(problem_of("[netwrok]\nmode = \"open\"\n"),
              "f.toml:1:2: unknown section [netwrok]; did you mean [network]?");
    EXPECT_EQ(problem_of("[zzzzzzzzzzzz]\n"),
              "f.toml:1:2: unknown section [zzzzzzzzzzzz]; 'agent-sandbox help settings' lists all settings");
    EXPECT_EQ(problem_of("zzzzzzzzzzzz = 1\n"),
              "f.toml:1:1: unknown setting 'zzzzzzzzzzzz'; 'agent-sandbox help settings' lists all settings");
    EXPECT_EQ(problem_of("mode = \"open\"\n"),
              "f.toml:1:1: unknown setting 'mode'; did you mean 'env.mode', 'network.mode' or 'slurm.mode'?");
    EXPECT_EQ(problem_of("[network]\nmod = \"open\"\n"),
              "f.toml:2:1: unknown setting 'network.mod'; did you mean 'network.mode'?");
    EXPECT_EQ(problem_of("hidden = []\n"),
              "f.toml:1:1: unknown setting 'hidden'; did you mean 'mounts.hidden'?");
}

TEST(ParseLayer, SaysWhatToWriteWhereTheParserOnlySaysWhatItSaw) {
    struct Mistake {
        const char* text;
        const char* advice;
    };
    for (Mistake mistake : {Mistake{"[network]\nmode = proxied\n", "; a text stands in quotes"},
                            {"[home]\naccess = tmpwrite\n", "; a text stands in quotes"},
                            {"[network]\nmode = filtered\n", "; a text stands in quotes"},
                            {"[network]\nmode = open\n", "; a text stands in quotes"},
                            {"[network]\nmode = isolated\n", "; a text stands in quotes"},
                            {"[limits]\nmemory = 4GB\n", "; a size or a time stands in quotes"},
                            {"[limits]\nmemory = 16G\n", "; a size or a time stands in quotes"},
                            {"[limits]\nwall_time = 8h\n", "; a size or a time stands in quotes"},
                            {"[network]\nmode = \"open\n", "; the closing \" is missing"},
                            {"network.mode: open\n", "; write NAME = VALUE"}}) {
        EXPECT_NE(problem_of(mistake.text).find(mistake.advice), std::string::npos)
            << problem_of(mistake.text);
    }
}

TEST(ParseLayer, SaysWhatIsExpectedInsteadOfAWrongType) {
    EXPECT_EQ(problem_of("[network]\nmode = true\n"),
              "f.toml:2:8: network.mode can't be true or false; write open, filtered, proxied or isolated");
    EXPECT_EQ(problem_of("[ui]\nquiet = \"true\"\n"),
              "f.toml:2:9: ui.quiet can't be a text; write true or false");
    EXPECT_EQ(problem_of("[mounts]\nreadonly = \"/data\"\n"),
              "f.toml:2:12: mounts.readonly can't be a text; write a list of paths, absolute or from ~");
    EXPECT_EQ(problem_of("[mounts]\nreadonly = [1]\n").substr(0, 54),
              "f.toml:2:13: mounts.readonly: an entry can't be a numb");
    EXPECT_EQ(problem_of("network = 1\n"),
              "f.toml:1:1: 'network' is a section, not a setting; write [network] and its settings below");
    EXPECT_NE(problem_of("[env]\nset = { A = 1 }\n").find("env.set.A can't be a number"), std::string::npos);
    EXPECT_NE(problem_of("[network.mode]\nx = 1\n").find("network.mode can't be a table"), std::string::npos);
}

TEST(ParseLayer, RefusesDuplicatesOfKeysAndEntries) {
    EXPECT_EQ(problem_of("[ui]\nquiet = true\nquiet = false\n").substr(0, 9), "f.toml:3:");
    EXPECT_EQ(problem_of("[mounts]\nhidden = [\"/a\",\n\"/a/\"]\n"),
              "f.toml:3:1: mounts.hidden: '/a' is written twice; remove one; the first is in line 2");
}

// Must be fast even if a user blocks a long published list; bench/growth measures how the time grows.
TEST(ParseLayer, FindsADuplicateInALongList) {
    std::string text = "[mounts]\nhidden = [\n";
    for (int number = 1; number <= 20'000; ++number) text += "\"/data/" + std::to_string(number) + "\",\n";
    EXPECT_EQ(
        problem_of(text + "\"/data/17\"]\n"),
        "f.toml:20003:1: mounts.hidden: '/data/17' is written twice; remove one; the first is in line 19");
}

TEST(ParseLayer, RefusesEmptyTextsAndControlCharacters) {
    EXPECT_NE(problem_of("[isolation]\nbwrap = \"\"\n").find("an empty text means nothing"),
              std::string::npos);
    EXPECT_NE(problem_of("[mounts]\nhidden = [\"/a\\nb\"]\n").find("control character"), std::string::npos);
    EXPECT_NE(problem_of("[mounts]\nhidden = [\"\"]\n").find("an empty text"), std::string::npos);
}

TEST(ParseLayer, CollectsAllProblemsInTheOrderOfTheFile) {
    ParsedFile parsed = parse("[ui]\nquiet = 1\nloud = true\n[network]\nmode = \"none\"\n[aaa]\nx = 1\n");
    ASSERT_EQ(parsed.problems.size(), 4u);
    EXPECT_EQ(parsed.problems[0].where, "f.toml:2:9");
    EXPECT_EQ(parsed.problems[1].where, "f.toml:3:1");
    EXPECT_EQ(parsed.problems[2].where, "f.toml:5:8");
    EXPECT_EQ(parsed.problems[3].where, "f.toml:6:2");
}

TEST(ParseLayer, ReportsBrokenSyntaxWithItsPlace) {
    EXPECT_EQ(problem_of("[network\nmode = \"open\"\n").substr(0, 9), "f.toml:1:");
    EXPECT_EQ(parse("a = \"\xff\"").problems.size(), 1u);
    EXPECT_EQ(parse(std::string(100000, '[')).problems.size(), 1u);
}

TEST(ParseLayer, TakesMatchInUserFilesOnly) {
    EXPECT_EQ(parse("[match]\nproject = \"/lab/**\"\n").content.match_project, "/lab/**");
    for (Layer layer : {Layer::admin, Layer::project, Layer::preset}) {
        EXPECT_NE(problem_of("[match]\nproject = \"/lab/**\"\n", layer).find("has no meaning here"),
                  std::string::npos);
    }
    EXPECT_NE(problem_of("[match]\nproject = \"lab\"\n").find("from / or from ~"), std::string::npos);
    EXPECT_NE(problem_of("[match]\nhost = \"x\"\n").find("match.host"), std::string::npos);
    EXPECT_NE(problem_of("[match]\n").find("matches nothing"), std::string::npos);
}

TEST(ParseLayer, ReadsTablesOfCredentials) {
    ParsedFile parsed = parse(R"([credentials]
use = ["github"]
[credential.github]
from_command = ["gh", "auth", "token", "token"]
[credential.empty]
)");
    ASSERT_TRUE(parsed.problems.empty()) << parsed.problems.front().line();
    EXPECT_EQ(parsed.content.values.size(), 1u);
    ASSERT_EQ(parsed.content.credentials.size(), 2u);
    const config::Value& command = parsed.content.credentials.at("github").at("from_command");
    EXPECT_EQ(command.items.size(), 4u) << "words of a command may be the same";
    EXPECT_EQ(command.items[0].origin.describe(), "f.toml:4");
    EXPECT_TRUE(parsed.content.credentials.at("empty").empty());
}

TEST(ParseLayer, ReadsTablesOfCredentialsStrictly) {
    EXPECT_EQ(problem_of("[credential.github]\nhots = [\"github.com\"]"),
              "f.toml:2:1: unknown setting 'hots'; did you mean 'hosts'?");
    EXPECT_NE(problem_of("[credential.github]\nhosts = \"github.com\"").find("can't be a text"),
              std::string::npos);
    EXPECT_NE(problem_of("[credential.github.match]\nproject = \"/x\"").find("unknown setting 'match'"),
              std::string::npos);
    EXPECT_NE(problem_of("[credential]\ngithub = \"x\"").find("[credential.github]"), std::string::npos);
    EXPECT_NE(problem_of("credential = 1").find("[credential.NAME]"), std::string::npos);
    EXPECT_NE(problem_of("[credential.\"../x\"]").find("not the name of a credential"), std::string::npos);
    EXPECT_NE(problem_of("[credentials]\nuse = [\"Git Hub\"]").find("not the name of a credential"),
              std::string::npos);
}

// The source of a credential is a program that runs outside the jail.
TEST(ParseLayer, TakesNoCredentialFromAProject) {
    EXPECT_NE(problem_of("[credential.github]\nfrom_command = [\"./get\"]", Layer::project)
                  .find("a project file can't define a credential"),
              std::string::npos);
    for (Layer layer : {Layer::admin, Layer::profile, Layer::user, Layer::preset})
        EXPECT_TRUE(parse("[credential.github]\nlifetime = \"5m\"", layer).problems.empty());
}

TEST(AddText, AppendsToListsAndReplacesScalars) {
    config::Values values;
    const config::Setting& list = *config::find_setting("mounts.readonly");
    const config::Setting& scalar = *config::find_setting("network.mode");
    for (const char* raw : {"/a", "/b", "/a/"})
        ASSERT_TRUE(config::add_text(values, list, raw, config::from_flag("--ro")).ok());
    ASSERT_TRUE(config::add_text(values, scalar, "open", config::from_flag("--network")).ok());
    ASSERT_TRUE(config::add_text(values, scalar, "isolated", config::from_flag("--network")).ok());
    ASSERT_EQ(values.at("mounts.readonly").items.size(), 2u);
    EXPECT_EQ(values.at("network.mode").text, "isolated");
    EXPECT_EQ(values.at("network.mode").origin.describe(), "--network");
}

TEST(AddText, NamesTheFlagInItsError) {
    config::Values values;
    auto status = config::add_text(values, *config::find_setting("network.mode"), "opne",
                                   config::from_flag("--network"));
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().where, "--network");
    EXPECT_TRUE(values.empty());
}

}  // namespace
