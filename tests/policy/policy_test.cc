// SPDX-License-Identifier: MIT
#include "policy/policy.h"

#include <gtest/gtest.h>

#include "config/settings.h"
#include "policy/layers.h"

namespace {

using test::merged;
using test::texts;

// Each choice of a setting, read into the policy and written again, is the same.
template <typename Choice>
void expect_words_survive(const char* section, const char* name, Choice (*chosen)(const policy::Policy&)) {
    std::string key = std::string(section) + "." + name;
    for (std::string_view word : config::choices_of(*config::find_setting(key))) {
        std::string toml = "[" + std::string(section) + "]\n" + name + " = \"" + std::string(word) + "\"";
        auto effective = merged({.user = toml});
        ASSERT_TRUE(effective) << effective.error().line();
        EXPECT_EQ(policy::to_text(chosen(policy::policy_from(*effective))), word) << key;
    }
}

TEST(Policy, WordsAreThoseOfTheTable) {
    expect_words_survive<policy::HomeAccess>("home", "access",
                                             [](const auto& policy) { return policy.home.access; });
    expect_words_survive<policy::NetworkMode>("network", "mode",
                                              [](const auto& policy) { return policy.network.mode; });
    expect_words_survive<policy::SlurmScope>("slurm", "scope",
                                             [](const auto& policy) { return policy.slurm.scope; });
}

TEST(Policy, EveryBackendOfTheTableIsOne) {
    const config::Setting& setting = *config::find_setting("isolation.backend");
    std::vector<std::string_view> named;
    for (std::string_view word : config::choices_of(setting)) {
        auto effective = merged({.user = "[isolation]\nbackend = \"" + std::string(word) + "\""});
        ASSERT_TRUE(effective) << effective.error().line();
        std::optional<base::Backend> chosen = policy::policy_from(*effective).isolation.backend;
        if (chosen) named.push_back(base::to_text(*chosen));
        EXPECT_EQ(chosen ? base::to_text(*chosen) : "auto", word);
    }
    EXPECT_EQ(named.size(), std::size(base::kBackends));
}

TEST(Policy, LevelsAscendFromAbsentToHidden) {
    EXPECT_EQ(policy::to_text(policy::Level::absent), "absent");
    EXPECT_EQ(policy::to_text(policy::Level::cooperative), "cooperative");
    EXPECT_EQ(policy::to_text(policy::Level::denied), "denied");
    EXPECT_EQ(policy::to_text(policy::Level::hidden), "hidden");
    EXPECT_LT(policy::Level::absent, policy::Level::hidden);
}

TEST(Policy, ProgramsThatAreNotNamedAreNotSet) {
    policy::Policy policy = policy::policy_from(*merged({}));
    EXPECT_FALSE(policy.isolation.bwrap);
    EXPECT_FALSE(policy.isolation.firejail);
    EXPECT_FALSE(policy.slurm.program);
    EXPECT_FALSE(policy.modules.command);
}

TEST(Policy, ProgramsThatAreNamedArePaths) {
    auto effective = merged({.user = "[isolation]\nbwrap = \"/opt/bwrap\"\nfirejail = \"/opt/firejail\"\n"
                                     "[slurm]\nprogram = \"/opt/agent-sandbox\"\n"
                                     "[modules]\ncommand = \"/opt/lmod\""});
    ASSERT_TRUE(effective) << effective.error().line();
    policy::Policy policy = policy::policy_from(*effective);
    EXPECT_EQ(policy.isolation.bwrap, base::Path::known("/opt/bwrap"));
    EXPECT_EQ(policy.isolation.firejail, base::Path::known("/opt/firejail"));
    EXPECT_EQ(policy.slurm.program, base::Path::known("/opt/agent-sandbox"));
    EXPECT_EQ(policy.modules.command, base::Path::known("/opt/lmod"));
    // The layer that named the program decides whether a user other than root may own it.
    EXPECT_EQ(policy.modules.command_origin.layer, config::Layer::user);
}

TEST(Policy, AProjectsFileNarrowsWhereProjectsMayLie) {
    auto effective = merged({.user = "[project]\nparents = [\"/lab\", \"/home\"]",
                             .project = "[project]\nparents = [\"/lab/genomics\"]"});
    ASSERT_TRUE(effective) << effective.error().line();
    EXPECT_EQ(texts(effective->items("project.parents")), (std::vector<std::string>{"/lab/genomics"}));
}

TEST(Policy, AProjectsFileNeverAddsAPlaceForProjects) {
    // A name with the same beginning is another directory.
    for (const char* place : {"/labrador", "/", "/lab/.."}) {
        std::string wider = "[project]\nparents = [\"" + std::string(place) + "\"]";
        auto refused = merged({.user = "[project]\nparents = [\"/lab\"]", .project = wider});
        ASSERT_FALSE(refused) << place;
        EXPECT_NE(refused.error().line().find("may only narrow"), std::string::npos)
            << refused.error().line();
    }
}

}  // namespace
