// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "host/facts.h"

namespace host {
namespace {

using base::Json;
using base::Path;

// Every member differs from its default, so that the test detects a member that the code omits.
Facts unusual_facts() {
    return Facts{.identity = {.uid = 4294967294,
                              .gid = 50,
                              .user = "ann",
                              .group = "staff",
                              .shell = "/bin/zsh",
                              .home = Path::known("/home/ann")},
                 .kernel = "4.18.0",
                 .machine = "aarch64",
                 .native_obstacle = "no open_tree",
                 .namespace_obstacle = NamespaceObstacle::apparmor,
                 .user_namespace_obstacle = "because",
                 .apparmor_restricts_user_namespaces = true,
                 .apparmor_profile_for_bwrap = true,
                 .slurm_job = {.id = "7", .node = "n1"},
                 .nested_in = "container",
                 .own_program = Path::known("/opt/agent-sandbox"),
                 .private_etc = {Path::known("/etc/team")},
                 .bwrap = {.state = ProgramState::untrusted,
                           .path = Path::known("/opt/bwrap"),
                           .is_setuid = true,
                           .problem = "p"},
                 .firejail = {.state = ProgramState::usable, .path = Path::known("/opt/firejail")},
                 .landlock_abi = 6,
                 .can_answer_calls = true,
                 .answers_obstacle = "scope",
                 .os_name = "Some Linux",
                 .lsm_list = "landlock,yama",
                 .ptrace_scope = 2,
                 .has_seccomp = false,
                 .has_cgroup_namespace = false,
                 .gpu_devices = {"/dev/nvidia0"}};
}

TEST(FactsJson, GoesThereAndBackUnchanged) {
    Json json = to_json(unusual_facts());
    base::Result<Facts> facts = facts_from_json(*Json::parse(json.dump()));
    ASSERT_TRUE(facts) << facts.error().line();
    EXPECT_EQ(to_json(*facts).dump(), json.dump());
    EXPECT_NE(json.dump(), to_json(Facts{}).dump());
    EXPECT_EQ(facts->identity.uid, 4294967294u);
    EXPECT_EQ(facts->user_namespace_obstacle, "because");
    EXPECT_EQ(facts->native_obstacle, "no open_tree");
}

TEST(FactsJson, EveryMemberIsCarried) {
    Json unusual = to_json(unusual_facts()), usual = to_json(Facts{});
    ASSERT_EQ(unusual.members().size(), usual.members().size());
    for (size_t i = 0; i < usual.members().size(); ++i) {
        EXPECT_NE(unusual.members()[i].second.dump(), usual.members()[i].second.dump())
            << usual.members()[i].first;
    }
}

TEST(FactsJson, AbsentMembersKeepTheirDefaults) {
    base::Result<Facts> facts = facts_from_json(Json::object());
    ASSERT_TRUE(facts);
    EXPECT_EQ(to_json(*facts).dump(), to_json(Facts{}).dump());
}

TEST(FactsJson, RefusesValuesThatAreNoneOfOurs) {
    struct Case {
        const char *json, *problem;
    };
    constexpr Case kCases[] = {
        {R"([])", "facts: not a JSON object"},
        {R"({"identity": {"uid": -1}})", "facts: uid: -1 is out of range"},
        {R"({"identity": {"home": "ann"}})", "facts: home: 'ann' is not an absolute path"},
        {R"({"bwrap": {"state": "fine"}})", "facts: state: 'fine' is not a known word"},
        {R"({"private_etc": ["etc"]})", "'etc' is not an absolute path"},
        {R"({"namespace_obstacle": "?"})", "facts: namespace_obstacle: '?' is not a known word"},
    };
    for (const Case& each : kCases) {
        base::Result<Facts> facts = facts_from_json(*Json::parse(each.json));
        ASSERT_FALSE(facts) << each.json;
        EXPECT_EQ(facts.error().what, each.problem);
    }
}

}  // namespace
}  // namespace host
