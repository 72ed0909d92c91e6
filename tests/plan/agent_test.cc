// SPDX-License-Identifier: MIT
#include "plan/agent/agent.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "config/data.h"
#include "plan/agent/known_agents.h"
#include "plan/case.h"

namespace {

constexpr std::string_view kProfile = R"([agent]
title = "Tiny"
commands = ["tiny"]
state = [".tiny"]
kept = [".tiny.json"]
tokens = [".tiny/login.json"]
protect = [".tiny/settings.json", ".tiny/hooks"]
credentials = ["TINY_API_KEY"]
login = "run 'tiny login'"
[agent.files]
"/etc/tiny/notice.md" = "{notice}{original}"
"/etc/tiny/policy.toml" = "text = {notice:toml}"
"~/.tiny/TINY.md" = "{notice}--{original}"
[network]
allow = ["tiny.example"]
)";

constexpr std::string_view kState = R"(f /home/ann/.tiny/settings.json
f /home/ann/.tiny/login.json
f /home/ann/.tiny/TINY.md 0644 mine
d /home/ann/.tiny/history
f /home/ann/.tiny.json
)";

plan::Plan planned(std::string_view state = kState, std::string_view user = "") {
    test::Case example{.toml = {.user = user}, .agent = std::string(kProfile)};
    example.tree += state;
    auto plan = test::planned(example);
    EXPECT_TRUE(plan) << plan.error().line();
    return *std::move(plan);
}

TEST(Agent, KeepsItsStateAndCantPlantWhatRunsLater) {
    plan::Plan plan = planned();
    EXPECT_EQ(plan.agent, "tiny");
    EXPECT_EQ(test::access(plan, "/home/ann/.tiny/history"), "writable");
    EXPECT_EQ(test::access(plan, "/home/ann/.tiny/login.json"), "writable");
    EXPECT_EQ(test::access(plan, "/home/ann/.tiny/settings.json"), "readonly");
    // Missing, so a placeholder occupies the name while the session runs.
    EXPECT_EQ(test::access(plan, "/home/ann/.tiny/hooks"), "readonly");
    EXPECT_TRUE(test::holds(plan, "/home/ann/.tiny/hooks"));
    EXPECT_FALSE(test::holds(plan, "/home/ann/.tiny/settings.json"));
}

TEST(Agent, OfAFirstTimeUserIsMadeAndHeld) {
    plan::Plan plan = planned("");
    ASSERT_FALSE(plan.new_directories.empty());
    EXPECT_EQ(plan.new_directories.front().path.str(), "/home/ann/.tiny");
    auto held = std::ranges::find_if(plan.placeholders, [](const plan::Placeholder& placeholder) {
        return placeholder.path.name() == "settings.json";
    });
    ASSERT_NE(held, plan.placeholders.end());
    // A program that reads the file finds no settings.
    EXPECT_EQ(held->content, "{}\n");
    EXPECT_TRUE(std::ranges::any_of(plan.notes, [](const plan::Note& note) {
        return note.text == "Tiny is not logged in: run 'tiny login'";
    }));
}

TEST(Agent, ThatCountsAnEmptyFileFindsADirectoryInItsPlace) {
    test::Case example{.agent = R"([agent]
title = "Tiny"
commands = ["tiny"]
state = [".tiny"]
protect = [".tiny/FIRST.md", ".tiny/SECOND.md"]
held_by_directory = [".tiny/FIRST.md"]
)"};
    example.tree += "d /home/ann/.tiny\n";
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    for (const plan::Placeholder& held : plan->placeholders) {
        if (held.path.parent().name() != ".tiny") continue;
        EXPECT_EQ(held.content.has_value(), held.path.name() == "SECOND.md") << held.path.str();
    }
    EXPECT_TRUE(test::holds(*plan, "/home/ann/.tiny/FIRST.md"));
    EXPECT_EQ(test::access(*plan, "/home/ann/.tiny/FIRST.md"), "readonly");
    EXPECT_TRUE(test::holds(*plan, "/home/ann/.tiny/SECOND.md"));
}

TEST(Agent, FindsTheContentThatItsProfileNamesInPlaceOfAMissingFile) {
    test::Case example{.agent = R"([agent]
commands = ["tiny"]
state = [".tiny"]
protect = [".tiny/models.json", ".tiny/other.json"]
placeholders = { "~/.tiny/models.json" = '{"models":{}}' }
)"};
    example.tree += "d /home/ann/.tiny\n";
    // The second time a placeholder of another session is there: it will be removed, so it is held again.
    for (std::string_view found : {"", "f /home/ann/.tiny/models.json 0644 {\"models\":{}}\n"}) {
        example.tree += found;
        auto plan = test::planned(example);
        ASSERT_TRUE(plan) << plan.error().line();
        size_t seen = 0;
        for (const plan::Placeholder& held : plan->placeholders) {
            if (held.path.parent().name() != ".tiny") continue;
            ++seen;
            bool is_named = held.path.name() == "models.json";
            EXPECT_EQ(held.content, is_named ? "{\"models\":{}}" : "{}\n");
        }
        EXPECT_EQ(seen, 2u) << found;
    }
}

// The agent exits if it can't write in its directory of the project.
TEST(Agent, GetsADirectoryOfTheProjectThatIsTheSessionsOwn) {
    constexpr std::string_view kTools = "[project]\nprotect = [\".tiny/tools\", \".tiny/tiny.json\"]\n";
    test::Case example{.toml = {.user = kTools}, .agent = R"([agent]
title = "Tiny"
commands = ["tiny"]
project_files = [".tiny/tiny.json"]
)"};
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_TRUE(test::holds(*plan, "/home/ann/app/.tiny"));
    const plan::Mount* mount = test::mount_at(*plan, "/home/ann/app/.tiny");
    ASSERT_TRUE(mount);
    EXPECT_EQ(mount->kind, plan::MountKind::tmpfs);
    // If the user has such a directory, it stays, with placeholders for the names in it.
    example.tree += "f /home/ann/app/.tiny/notes\n";
    plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(test::access(*plan, "/home/ann/app/.tiny/notes"), "writable");
    EXPECT_EQ(test::access(*plan, "/home/ann/app/.tiny/tools"), "readonly");
    EXPECT_TRUE(test::holds(*plan, "/home/ann/app/.tiny/tiny.json"));
}

TEST(Agent, GetsACopyOfAFileThatHoldsBoth) {
    plan::Plan plan = planned();
    ASSERT_EQ(plan.kept_files.size(), 1u);
    EXPECT_EQ(plan.kept_files[0].path.str(), "/home/ann/.local/state/agent-sandbox/agents/tiny/.tiny.json");
    EXPECT_EQ(plan.kept_files[0].copied_from.str(), "/home/ann/.tiny.json");
    const plan::Mount* mount = test::mount_at(plan, "/home/ann/.tiny.json");
    ASSERT_TRUE(mount);
    EXPECT_EQ(mount->source, plan.kept_files[0].path.str());
}

TEST(Agent, ReadsTheNoticeInFrontOfTheUsersOwnWords) {
    plan::Plan plan = planned();
    const plan::Mount* merged = test::mount_at(plan, "/home/ann/.tiny/TINY.md");
    ASSERT_TRUE(merged);
    EXPECT_TRUE(merged->source.starts_with("# You are running in a jail")) << merged->source;
    EXPECT_TRUE(merged->source.ends_with("--mine")) << merged->source;
    EXPECT_NE(merged->source.find("/home/ann/app is writable"), std::string::npos) << merged->source;
    const plan::Mount* policy = test::mount_at(plan, "/etc/tiny/policy.toml");
    ASSERT_TRUE(policy);
    EXPECT_TRUE(policy->source.starts_with("text = \"# You are running in a jail")) << policy->source;
    ASSERT_TRUE(test::mount_at(plan, "/run/agent-sandbox/notice.md"));
}

TEST(Agent, IsNotToldWhereTheUserDoesNotWantIt) {
    plan::Plan plan = planned(kState, "[agents]\nnotice = false\n");
    EXPECT_EQ(test::mount_at(plan, "/home/ann/.tiny/TINY.md")->source, "--mine");
    EXPECT_FALSE(test::mount_at(plan, "/run/agent-sandbox/notice.md"));
}

TEST(Agent, LeavesTheSitesOwnFilesAlone) {
    std::string state = std::string(kState) + "f /etc/tiny/policy.toml 0644 theirs\nf /etc/tiny/other 0644\n";
    plan::Plan plan = planned(state);
    const plan::Mount* theirs = test::mount_at(plan, "/etc/tiny/policy.toml");
    ASSERT_TRUE(theirs);
    EXPECT_EQ(theirs->kind, plan::MountKind::symlink);
    EXPECT_EQ(test::mount_at(plan, "/etc/tiny/other")->source, "/run/host/etc/tiny/other");
    EXPECT_EQ(test::mount_at(plan, "/etc/tiny/notice.md")->kind, plan::MountKind::file);
}

TEST(Agent, HasAStateForEachProjectWhereThatIsWanted) {
    plan::Plan plan = planned(kState, "[agents]\nper_project_state = true\n");
    const plan::Mount* state = test::mount_at(plan, "/home/ann/.tiny");
    ASSERT_TRUE(state);
    EXPECT_TRUE(state->source.starts_with("/home/ann/.local/state/agent-sandbox/agents/tiny/projects/"))
        << state->source;
    EXPECT_EQ(test::mount_at(plan, "/home/ann/.tiny/login.json")->kind, plan::MountKind::bind_writable);
    EXPECT_EQ(test::mount_at(plan, "/home/ann/.tiny/settings.json")->kind, plan::MountKind::bind_readonly);
    EXPECT_FALSE(test::mount_at(plan, "/home/ann/.tiny/history"));
}

TEST(Agent, OpensNothingThatTheAdministratorCloses) {
    test::Case example{
        .toml = {.admin = "[network]\nblock = [\"tiny.example\"]\n[env]\nblock = [\"TINY_API_KEY\"]\n"},
        .environment = {"HOME=/home/ann", "PATH=/usr/bin", "TINY_API_KEY=x"},
        .agent = std::string(kProfile)};
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    for (const plan::Variable& variable : plan->environment.passed) EXPECT_NE(variable.name, "TINY_API_KEY");
    base::Result<network::Engine> engine = network::Engine::make(plan->network.egress.rules);
    ASSERT_TRUE(engine);
    auto host = network::parse_host("tiny.example");
    ASSERT_TRUE(host);
    EXPECT_FALSE(engine->decide({*host, 443}).is_allowed());
}

TEST(Agent, OfAnotherKindIsHiddenInAHomeThatIsShown) {
    test::Case example{.toml = {.user = "[home]\naccess = \"read\"\n"}, .other_agent = std::string(kProfile)};
    example.tree += kState;
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(plan->agent, "");
    EXPECT_EQ(test::access(*plan, "/home/ann/.tiny"), "hidden");
    EXPECT_EQ(test::access(*plan, "/home/ann/.tiny.json"), "hidden");
    EXPECT_EQ(test::access(*plan, "/home/ann/other"), "readonly");
}

TEST(Agent, IsToldInTheUsersOwnWordsWhereThereAreSome) {
    std::string own = std::string(kState) +
                      "f /home/ann/.config/agent-sandbox/agents/notice.md 0644 for\\sall\\s{access}\n";
    EXPECT_EQ(test::mount_at(planned(own), "/home/ann/.tiny/TINY.md")->source, "for all is writable--mine");
    own += "f /home/ann/.config/agent-sandbox/agents/tiny.md 0644 for\\stiny\n";
    EXPECT_EQ(test::mount_at(planned(own), "/home/ann/.tiny/TINY.md")->source, "for tiny--mine");
}

TEST(Agent, LeavesNothingForGitToCommit) {
    constexpr std::string_view kReader = R"([agent]
commands = ["reader"]
project_files = ["opencode.json"]
)";
    test::Case example{.agent = std::string(kReader)};
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    const plan::Mount* exclude = test::mount_at(*plan, "/home/ann/app/.git/info/exclude");
    ASSERT_TRUE(exclude);
    EXPECT_EQ(exclude->source, "\n# Held by the sandbox.\n/opencode.json\n");
    auto without = test::planned({.agent = "[agent]\ncommands = [\"x\"]\n"});
    ASSERT_TRUE(without);
    EXPECT_FALSE(test::mount_at(*without, "/home/ann/app/.git/info/exclude"));
}

TEST(Agents, SeveralHaveTheirStateAndFilesInOneSession) {
    test::Case example{.agent = std::string(kProfile), .second_agent = R"([agent]
commands = ["second"]
kept = [".second.json"]
[agent.files]
"~/.second.md" = "{notice}"
)"};
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(plan->agent, "tiny, second");
    EXPECT_TRUE(test::mount_at(*plan, "/home/ann/.tiny.json"));
    EXPECT_TRUE(test::mount_at(*plan, "/home/ann/.second.json"));
    EXPECT_TRUE(test::mount_at(*plan, "/home/ann/.second.md"));
    EXPECT_EQ(std::ranges::count(plan->mounts, "/run/agent-sandbox/notice.md",
                                 [](const plan::Mount& mount) { return mount.target.str(); }),
              1);
}

const plan::Placeholder* held(const plan::Plan& plan, std::string_view path) {
    auto found = std::ranges::find_if(plan.placeholders,
                                      [&](const plan::Placeholder& each) { return each.path.str() == path; });
    return found == plan.placeholders.end() ? nullptr : &*found;
}

// OpenCode exits if opencode.json is a directory, also when a shell starts it.
TEST(Agents, OpencodeOfAUserFindsAFileWithoutItsProfile) {
    test::Case example;
    // The second time another session holds ~/.config/opencode with an empty directory.
    for (std::string_view placeholder : {"", "d /home/ann/.config/opencode\n"}) {
        example.tree += placeholder;
        auto other = test::planned(example);
        ASSERT_TRUE(other) << other.error().line();
        if (const plan::Placeholder* found = held(*other, "/home/ann/app/opencode.json"))
            EXPECT_FALSE(found->content) << placeholder;
    }
    for (std::string_view mark : {".config/opencode", ".local/share/opencode"}) {
        example.tree = std::string(test::kLaptop) + "f /home/ann/" + std::string(mark) + "/file\n";
        auto plan = test::planned(example);
        ASSERT_TRUE(plan) << plan.error().line();
        const plan::Placeholder* found = held(*plan, "/home/ann/app/opencode.json");
        ASSERT_TRUE(found) << mark;
        EXPECT_EQ(found->content, "{}\n") << mark;
        EXPECT_EQ(test::access(*plan, "/home/ann/app/opencode.json"), "readonly") << mark;
        EXPECT_EQ(test::access(*plan, "/home/ann/app/.opencode"), "writable") << mark;
        const plan::Mount* exclude = test::mount_at(*plan, "/home/ann/app/.git/info/exclude");
        ASSERT_TRUE(exclude) << mark;
        EXPECT_NE(exclude->source.find("/opencode.json\n"), std::string::npos) << mark;
    }
}

TEST(Agents, WithoutAProfileHaveAStubIfTheUserHasThem) {
    auto stub = [](const test::Case& example, const std::string& name) {
        auto plan = test::planned(example);
        EXPECT_TRUE(plan) << plan.error().line();
        return plan && test::mount_at(*plan, "/run/agent-sandbox/stubs/" + name) != nullptr;
    };
    test::Case example;
    EXPECT_FALSE(stub(example, "claude"));
    example.tree += "d /home/ann/.claude\n";
    EXPECT_TRUE(stub(example, "claude"));
    EXPECT_FALSE(stub(example, "codex"));
}

TEST(Agents, ThatAreKnownAreThoseWithAProfile) {
    for (const plan::KnownAgent& agent : plan::known_agents()) {
        const config::DataFile* file = config::find_data_file("agents/" + std::string(agent.name) + ".toml");
        ASSERT_TRUE(file) << agent.name;
        auto profile =
            config::parse_profile({std::string(agent.name), "profile", std::string(file->content)});
        ASSERT_TRUE(profile) << profile.error().line();
        auto has = [](const std::vector<config::Item>& items, std::string_view text) {
            return std::ranges::find(items, text, &config::Item::text) != items.end();
        };
        EXPECT_TRUE(has(profile->commands, agent.name)) << agent.name;
        EXPECT_EQ(profile->project_files.size(), agent.project_files.size()) << agent.name;
        for (std::string_view name : agent.project_files)
            EXPECT_TRUE(has(profile->project_files, name)) << name;
        EXPECT_TRUE(std::ranges::any_of(agent.marks, [&](std::string_view mark) {
            return has(profile->state, mark);
        })) << agent.name;
    }
    size_t profiles = 0;
    for (const config::DataFile& file : config::data_files())
        profiles += file.name.starts_with("agents/") && file.name.ends_with(".toml");
    EXPECT_EQ(plan::known_agents().size(), profiles);
}

}  // namespace
