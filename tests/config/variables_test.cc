// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "config/files/sources.h"

namespace {

using config::read_variables;

TEST(ReadVariables, TakesScalarsWithTheirOrigin) {
    auto values =
        read_variables({"PATH=/bin", "AGENT_SANDBOX_NETWORK_MODE=isolated", "AGENT_SANDBOX_UI_QUIET=1"});
    ASSERT_TRUE(values.ok()) << values.error().line();
    EXPECT_EQ(values->at("network.mode").text, "isolated");
    EXPECT_EQ(values->at("network.mode").origin.describe(), "AGENT_SANDBOX_NETWORK_MODE");
    EXPECT_EQ(values->at("ui.quiet").text, "true");
    EXPECT_EQ(values->size(), 2u);
}

TEST(ReadVariables, PassesOverWhatAJailSetsItself) {
    auto values = read_variables({"AGENT_SANDBOX=1", "AGENT_SANDBOX_SESSION=x", "AGENT_SANDBOX_PROJECT=/p",
                                  "AGENT_SANDBOX_BACKEND=bwrap", "AGENT_SANDBOX_NETWORK=isolated"});
    ASSERT_TRUE(values.ok()) << values.error().line();
    EXPECT_TRUE(values->empty());
}

TEST(ReadVariables, OutsideWhatAJailSetsIsASettingThatWasMeant) {
    EXPECT_EQ(read_variables({"AGENT_SANDBOX_NETWORK=isolated"}).error().line(),
              "AGENT_SANDBOX_NETWORK is set by a jail for what runs in it; unset it; "
              "AGENT_SANDBOX_NETWORK_MODE sets the mode");
    EXPECT_NE(read_variables({"AGENT_SANDBOX=0", "AGENT_SANDBOX_BACKEND=bwrap"})
                  .error()
                  .advice.find("AGENT_SANDBOX_ISOLATION_BACKEND"),
              std::string::npos);
    EXPECT_FALSE(read_variables({"AGENT_SANDBOX_PLACE=/x"}).ok());
}

TEST(ReadVariables, RefusesMistypedOnesAndNamesTheRightOne) {
    auto values = read_variables({"AGENT_SANDBOX_NETWORK_MOD=isolated"});
    ASSERT_FALSE(values.ok());
    EXPECT_NE(values.error().advice.find("AGENT_SANDBOX_NETWORK_MODE"), std::string::npos);
    EXPECT_FALSE(read_variables({"AGENT_SANDBOX_=x"}).ok());
}

TEST(ReadVariables, SaysThatListsNeedAFlagOrAFile) {
    auto values = read_variables({"AGENT_SANDBOX_MOUNTS_HIDDEN=/a"});
    ASSERT_FALSE(values.ok());
    EXPECT_NE(values.error().line().find("mounts.hidden is a list"), std::string::npos);
    EXPECT_NE(values.error().advice.find("--hide"), std::string::npos);
}

TEST(ReadVariables, RefusesWrongValuesByName) {
    auto values = read_variables({"AGENT_SANDBOX_HOME_ACCESS=full"});
    ASSERT_FALSE(values.ok());
    EXPECT_EQ(values.error().where, "AGENT_SANDBOX_HOME_ACCESS");
    EXPECT_FALSE(read_variables({"AGENT_SANDBOX_HOME_ACCESS="}).ok());
}

TEST(ReadVariables, NoSettingHasTheNameOfAVariableThatAJailSets) {
    for (const config::Setting& setting : config::settings()) {
        std::string name = config::variable_of(setting);
        for (const char* ours : {"AGENT_SANDBOX", "AGENT_SANDBOX_SESSION", "AGENT_SANDBOX_PROJECT",
                                 "AGENT_SANDBOX_BACKEND", "AGENT_SANDBOX_NETWORK"}) {
            EXPECT_NE(name, ours) << setting.key;
        }
    }
}

}  // namespace
