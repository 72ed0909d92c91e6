// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/path.h"
#include "config/settings.h"
#include "config/value.h"
#include "selftest/judgement.h"
#include "selftest/runner.h"

namespace selftest {
namespace {

void expect_setting(std::string_view key, std::string_view value) {
    const config::Setting* setting = config::find_setting(key);
    ASSERT_NE(setting, nullptr) << key;
    EXPECT_TRUE(config::canonical_text(*setting, value)) << key << " " << value;
}

TEST(Catalogue, HasAtLeastAHundredProbesWithNamesOfTheirOwn) {
    EXPECT_GE(all_probes().size(), 100u);
    std::set<std::string> names;
    for (const Probe& probe : all_probes()) {
        EXPECT_TRUE(names.insert(probe.name).second) << probe.name;
        EXPECT_NE(probe.name.find('/'), std::string::npos) << probe.name;
        EXPECT_FALSE(probe.what.empty()) << probe.name;
        EXPECT_TRUE(probe.attempt) << probe.name;
    }
}

TEST(Catalogue, EveryScenarioHasAProbeAndAsksForKnownSettings) {
    for (const ScenarioRow& row : scenarios()) {
        EXPECT_TRUE(std::ranges::any_of(all_probes(), [&](const Probe& probe) {
            return probe.scenario == row.scenario;
        })) << row.name;
        for (const Change& change : row.changes) expect_setting(change.key, change.value);
    }
}

TEST(Catalogue, PermissionsNameKnownSettingsAndValuesThatAreNotTheDefault) {
    for (const Probe& probe : all_probes()) {
        if (probe.permitted_by.empty()) continue;
        size_t equals = probe.permitted_by.find('=');
        ASSERT_NE(equals, std::string_view::npos) << probe.name;
        std::string_view key = probe.permitted_by.substr(0, equals),
                         value = probe.permitted_by.substr(equals + 1);
        expect_setting(key, value);
        EXPECT_NE(config::find_setting(key)->fallback, value) << probe.name;
    }
}

TEST(Catalogue, ExceptionsNameKnownProbes) {
    for (const Exception& exception : exceptions()) {
        bool is_known = std::ranges::any_of(all_probes(), [&](const Probe& probe) {
            return base::matches_name(exception.probe, probe.name);
        });
        EXPECT_TRUE(is_known) << exception.probe;
    }
}

TEST(Catalogue, SelectsByGroupAndByName) {
    base::Result<std::vector<const Probe*>> files = select_probes(std::vector<std::string>{"files"});
    ASSERT_TRUE(files);
    EXPECT_LT(files->size(), all_probes().size());
    for (const Probe* probe : *files) EXPECT_EQ(probe->group(), "files");
    base::Result<std::vector<const Probe*>> one = select_probes(std::vector<std::string>{"terminal/type"});
    ASSERT_TRUE(one);
    EXPECT_EQ(one->size(), 1u);
}

// They start a host and a gateway that decrypts; a run without words must stay fast.
TEST(Catalogue, ProbesOfCredentialsRunOnlyIfTheyAreNamed) {
    base::Result<std::vector<const Probe*>> named = select_probes(std::vector<std::string>{"credentials"});
    ASSERT_TRUE(named);
    EXPECT_GE(named->size(), 40u);
    for (const Probe* probe : *named) {
        EXPECT_TRUE(probe->is_on_request) << probe->name;
        EXPECT_EQ(probe->scenario, Scenario::credentials) << probe->name;
        EXPECT_TRUE(probe->excuse.empty()) << "every host can show the control of " << probe->name;
    }
    base::Result<std::vector<const Probe*>> usual = select_probes({});
    ASSERT_TRUE(usual);
    for (const Probe* probe : *usual) EXPECT_FALSE(probe->is_on_request) << probe->name;
    EXPECT_EQ(usual->size() + named->size(), all_probes().size());
}

TEST(Catalogue, AMistypedGroupNamesTheNearest) {
    base::Result<std::vector<const Probe*>> wrong = select_probes(std::vector<std::string>{"flies"});
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().exit_code, base::ExitCode::usage);
    EXPECT_NE(wrong.error().advice.find("files"), std::string::npos);
}

TEST(Print, WhatAProbeSaysCannotDriveTheTerminal) {
    std::vector<Judgement> judgements = {
        {.probe = &all_probes().front(), .result = ProbeResult::escaped, .detail = "\x1b]0;title\x07"}};
    EXPECT_EQ(to_text(judgements, false).find('\x1b'), std::string::npos);
    EXPECT_EQ(to_json(judgements).dump().find('\x1b'), std::string::npos);
}

TEST(Print, AnEscapeStandsAtTheEndWithWhatWasDone) {
    const Probe& probe = all_probes().front();
    std::vector<Judgement> judgements = {
        {.probe = &probe, .result = ProbeResult::escaped, .detail = "the secret was read"},
        {.probe = &all_probes()[1], .result = ProbeResult::held, .detail = "ENOENT"}};
    std::string text = to_text(judgements, false);
    EXPECT_NE(text.find(probe.what + ": the secret was read"), std::string::npos);
    EXPECT_NE(text.find("1 held, 1 escaped"), std::string::npos);
    base::Json json = to_json(judgements);
    EXPECT_FALSE(json.truth("sound", true));
    EXPECT_EQ(json.number("escaped"), 1);
    EXPECT_EQ(json.items("probes").size(), 2u);
    EXPECT_EQ(json.items("probes")[0].text("verdict"), "escaped");
}

}  // namespace
}  // namespace selftest
