// SPDX-License-Identifier: MIT
#include "plan/print/summary.h"

#include <gtest/gtest.h>

#include "plan/case.h"
#include "plan/print/explain.h"

namespace {

plan::Plan planned() {
    test::Case example{
        .toml = {.user = "[network]\nmode = \"proxied\"\nallow = [\"good.example\", \"@github\"]\n"},
        .environment = {"HOME=/home/ann", "PATH=/usr/bin", "OPENAI_API_KEY=very-secret-value",
                        "LANG=C.UTF-8"}};
    auto plan = test::planned(example);
    EXPECT_TRUE(plan) << plan.error().line();
    return *std::move(plan);
}

TEST(Summary, AnswersInsideAsThePlanDoesOutside) {
    plan::Plan plan = planned();
    base::Result<plan::Plan> inside = plan::decode_summary(plan::encode_summary(plan));
    ASSERT_TRUE(inside) << inside.error().line();
    EXPECT_TRUE(inside->is_seen_from_inside);
    inside->is_seen_from_inside = false;  // this tree is the host's
    host::MemoryTree tree = test::tree_of({});
    for (const char* path :
         {"/home/ann/.ssh", "/home/ann/app/src", "/home/ann/app/.git/hooks", "/usr/bin", "/root"}) {
        for (bool to_write : {false, true}) {
            base::Path asked = base::Path::known(path);
            plan::Explanation outside = plan::explain_path(plan, tree, asked, to_write);
            plan::Explanation same = plan::explain_path(*inside, tree, asked, to_write);
            EXPECT_EQ(plan::to_text(same), plan::to_text(outside)) << path;
        }
    }
    for (const char* name : {"OPENAI_API_KEY", "LANG", "HOME"}) {
        EXPECT_EQ(plan::to_text(plan::explain_variable(*inside, name)),
                  plan::to_text(plan::explain_variable(plan, name)));
    }
    for (const char* host :
         {"good.example", "evil.example", "api.github.com:443", "10.0.0.1:22", "good.example:25"}) {
        base::Result<plan::Explanation> outside = plan::explain_host(plan, host);
        base::Result<plan::Explanation> same = plan::explain_host(*inside, host);
        ASSERT_TRUE(outside && same) << host;
        EXPECT_EQ(plan::to_text(*same), plan::to_text(*outside)) << host;
    }
}

TEST(Summary, TellsOfLimitsAndOfSlurm) {
    plan::Plan plan = planned();
    plan.limits.memory = {2u << 30, config::from_flag("--limit")};
    plan.slurm = {.is_open = true, .scope = policy::SlurmScope::session, .network = "isolated"};
    base::Result<plan::Plan> inside = plan::decode_summary(plan::encode_summary(plan));
    ASSERT_TRUE(inside) << inside.error().line();
    EXPECT_EQ(inside->limits.memory.value, plan.limits.memory.value);
    EXPECT_EQ(inside->limits.memory.origin.describe(), "--limit");
    EXPECT_EQ(inside->limits.processes.value, 0u);
    EXPECT_TRUE(inside->slurm.is_open);
    EXPECT_EQ(inside->slurm.scope, policy::SlurmScope::session);
    EXPECT_EQ(inside->slurm.network, "isolated");
}

TEST(Summary, HoldsNoValueOfAVariable) {
    EXPECT_EQ(plan::encode_summary(planned()).find("very-secret-value"), std::string::npos);
    EXPECT_EQ(plan::encode_summary(planned()).find("C.UTF-8"), std::string::npos);
}

TEST(Summary, DamageIsNoticed) {
    std::string text = plan::encode_summary(planned());
    EXPECT_FALSE(plan::decode_summary(text.substr(0, text.size() - 1)));
    EXPECT_FALSE(plan::decode_summary("something else"));
    EXPECT_FALSE(plan::decode_summary(""));
}

TEST(Summary, AValueWithoutAMeaningIsDamage) {
    auto is_read = [](const plan::Plan& plan) {
        return plan::decode_summary(plan::encode_summary(plan)).ok();
    };
    const plan::Plan plan = planned();
    ASSERT_TRUE(is_read(plan));
    plan::Plan odd = plan;
    odd.network.asked = static_cast<policy::NetworkMode>(6);
    EXPECT_FALSE(is_read(odd));
    odd = plan;
    odd.network.reached = static_cast<policy::NetworkMode>(-1);
    EXPECT_FALSE(is_read(odd));
    odd = plan;
    odd.slurm.scope = static_cast<policy::SlurmScope>(4);
    EXPECT_FALSE(is_read(odd));
    odd = plan;
    odd.rules.at(0).access = static_cast<plan::Access>(4);
    EXPECT_FALSE(is_read(odd));
    odd = plan;
    odd.rules.at(0).backing = static_cast<plan::Backing>(3);
    EXPECT_FALSE(is_read(odd));
    odd = plan;
    odd.grants.push_back({.path = base::Path::known("/data")});
    EXPECT_TRUE(is_read(odd));
    odd.grants.back().kind = static_cast<plan::GrantKind>(3);
    EXPECT_FALSE(is_read(odd));
}

}  // namespace
