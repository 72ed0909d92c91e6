// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>

#include "config/secrets.h"
#include "plan/case.h"
#include "plan/home/filtered_files.h"
#include "plan/network/network.h"

namespace {

using test::Case;
using test::planned;

const plan::Variable* passed(const plan::Plan& plan, std::string_view name) {
    auto found = std::ranges::find(plan.environment.passed, name, &plan::Variable::name);
    return found == plan.environment.passed.end() ? nullptr : &*found;
}

bool is_removed(const plan::Plan& plan, std::string_view name) {
    return std::ranges::find(plan.environment.removed, name, &plan::RemovedVariable::name) !=
           plan.environment.removed.end();
}

plan::Plan with(std::vector<std::string> environment, std::string_view toml = "") {
    auto plan = planned({.toml = {.user = toml}, .environment = std::move(environment)});
    if (!plan) ADD_FAILURE() << plan.error().line();
    return *std::move(plan);
}

TEST(Environment, AVariableOfAnAddedCommandFollowsTheRulesOfTheSession) {
    policy::Policy policy;
    policy.env.allow = {{"MY_TOKEN", {}}, {"LD_LIBRARY_PATH", {}}};
    policy.env.block = {{"CLOSED", {}}};
    policy.env.block_patterns = {{"*_TOKEN", {}}};
    auto obstacle = [&](std::string_view name, std::string_view value = "1") {
        return plan::added_variable_obstacle(policy, name, value, true);
    };
    for (std::string_view name : {"PLAIN", "MY_TOKEN", "LD_LIBRARY_PATH"})
        EXPECT_EQ(obstacle(name), "") << name;
    for (std::string_view name :
         {"CLOSED", "OTHER_TOKEN", "LD_PRELOAD", "AGENT_SANDBOX_NETWORK", "HTTPS_PROXY", "https_proxy"})
        EXPECT_NE(obstacle(name), "") << name;
    EXPECT_EQ(plan::added_variable_obstacle(policy, "HTTPS_PROXY", "1", false), "");
    constexpr std::string_view kToken = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    EXPECT_NE(obstacle("PLAIN", kToken), "");
    EXPECT_EQ(obstacle("MY_TOKEN", kToken), "");
}

TEST(Environment, CleanPassesTheListAndNothingElse) {
    plan::Plan plan = with({"LANG=C", "PATH=/usr/bin", "TERM=xterm", "UNHEARD_OF=1"});
    EXPECT_NE(passed(plan, "LANG"), nullptr);
    EXPECT_NE(passed(plan, "TERM"), nullptr);
    EXPECT_TRUE(is_removed(plan, "UNHEARD_OF"));
}

class SecretByName : public testing::TestWithParam<const char*> {};
TEST_P(SecretByName, NeverPasses) {
    for (const char* mode : {"clean", "inherit"}) {
        plan::Plan plan =
            with({std::string(GetParam()) + "=value"}, std::string("[env]\nmode = \"") + mode + "\"");
        EXPECT_TRUE(is_removed(plan, GetParam())) << mode;
        EXPECT_EQ(passed(plan, GetParam()), nullptr) << mode;
    }
}
INSTANTIATE_TEST_SUITE_P(
    Names, SecretByName,
    testing::Values("SSH_AUTH_SOCK", "GITHUB_TOKEN", "MY_SECRET", "DB_PASSWORD", "DB_PASSWD", "MYSQL_PWD",
                    "X_CREDENTIALS", "OPENAI_API_KEY", "A_SECRET_KEY", "A_PRIVATE_KEY", "AWS_ACCESS_KEY_ID",
                    "AWS_PROFILE", "AZURE_CLIENT_ID", "VAULT_ADDR", "KUBECONFIG", "DOCKER_HOST", "CI_JOB_ID",
                    "SLURM_JWT", "MyPasswordFile", "GITHUB_PAT", "DATABASE_URL", "PGPASSWORD", "MONGO_URI",
                    "REDIS_URL", "GOOGLE_APPLICATION_CREDENTIALS", "KRB5CCNAME", "DBUS_SESSION_BUS_ADDRESS",
                    "XAUTHORITY", "DISPLAY", "TMUX", "SLURM_CONF", "LD_PRELOAD", "BASH_FUNC_evil%%"));

class SecretByValue : public testing::TestWithParam<const char*> {};
TEST_P(SecretByValue, NeverPassesUnderAnInnocentName) {
    plan::Plan plan = with({std::string("EDITOR=") + GetParam()});
    EXPECT_TRUE(is_removed(plan, "EDITOR")) << GetParam();
}
INSTANTIATE_TEST_SUITE_P(Values, SecretByValue,
                         testing::Values("postgres://me:hunter2@db.example/x",
                                         "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
                                         "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
                                         "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789",
                                         "AKIAIOSFODNN7EXAMPLE"));

TEST(Environment, OrdinaryValuesAreNoSecrets) {
    for (const char* value :
         {"https://example.org/path", "ssh://git@example.org/x", "vim", "/usr/bin/nano -w", "sketch"}) {
        EXPECT_EQ(config::secret_in(value), "") << value;
    }
}

TEST(Environment, ANameCanBeAllowedExactly) {
    plan::Plan plan =
        with({"GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789"}, "[env]\nallow = [\"GITHUB_TOKEN\"]");
    ASSERT_NE(passed(plan, "GITHUB_TOKEN"), nullptr);
}

TEST(Environment, TheJobsOwnSlurmVariablesPass) {
    plan::Plan plan = with({"SLURM_JOB_ID=7", "PMI_RANK=0", "OMP_NUM_THREADS=4"});
    EXPECT_NE(passed(plan, "SLURM_JOB_ID"), nullptr);
    EXPECT_NE(passed(plan, "OMP_NUM_THREADS"), nullptr);
}

TEST(Environment, LmodsFunctionsPass) {
    plan::Plan plan = with({"BASH_FUNC_module%%=() {  eval `/app/lmod`; }"});
    EXPECT_NE(passed(plan, "BASH_FUNC_module%%"), nullptr);
}

TEST(Environment, APlaceForTemporaryFilesOutsideTheJailIsReset) {
    EXPECT_EQ(passed(with({"TMPDIR=/scratch/ann"}), "TMPDIR")->value, "/tmp");
    EXPECT_EQ(passed(with({"TMPDIR=/home/ann/app/src"}), "TMPDIR")->value, "/home/ann/app/src");
}

TEST(Environment, SettingsReplaceWhatWasThere) {
    plan::Plan plan = with({"EDITOR=vim"}, "[env]\nset = { EDITOR = \"nano\" }");
    EXPECT_EQ(passed(plan, "EDITOR")->value, "nano");
}

TEST(Environment, TellsTheJailAboutItself) {
    plan::Plan plan = with({"AGENT_SANDBOX_SESSION=forged"});
    EXPECT_EQ(passed(plan, "AGENT_SANDBOX")->value, "1");
    EXPECT_EQ(passed(plan, "AGENT_SANDBOX_SESSION")->value, "0123456789abcdef");
    EXPECT_EQ(passed(plan, "AGENT_SANDBOX_PROJECT")->value, "/home/ann/app");
}

TEST(FilteredFiles, DropsCredentialSectionsHeadersAndPasswords) {
    EXPECT_EQ(
        plan::without_secrets(
            "[user]\n\tname = A\n[credential \"https://x\"]\n\thelper = store\n\tusername = u\n"
            "[http]\n\textraHeader = Authorization: Basic x\n\tproxy = http://u:p@h/\n\tsslVerify = true\n"
            "[url \"https://u:pw@h/\"]\n\tinsteadOf = x\n[core]\n\teditor = vim\n"),
        "[user]\n\tname = A\n[http]\n\tsslVerify = true\n[core]\n\teditor = vim\n");
}

}  // namespace
