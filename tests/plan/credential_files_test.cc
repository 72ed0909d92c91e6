// SPDX-License-Identifier: MIT
// Files of credentials: the jail gets copies with placeholders, and the user's own files stay hidden.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "plan/case.h"
#include "plan/network/broker.h"

namespace {

plan::Plan planned(const plan::Brokered* brokered, std::string_view tree = "") {
    test::Case example{.agent = "[agent]\ncommands = [\"tiny\"]\nstate = [\".tiny\"]\n",
                       .brokered = brokered};
    example.tree += tree;
    auto plan = test::planned(example);
    EXPECT_TRUE(plan) << plan.error().line();
    return *std::move(plan);
}

plan::Brokered with(std::string_view name, std::string placeholder) {
    plan::Brokered made;
    made.credentials = {
        *credentials::make_credential(std::string(name), *credentials::preset_values(name), {})};
    made.placeholders = {std::move(placeholder)};
    made.root = []() -> base::Result<plan::RootCertificate> {
        return plan::RootCertificate{"root", "1a2b3c4d.0"};
    };
    return made;
}

plan::Brokered with_npm() {
    return with("npm", "npm_placeholder");
}

constexpr std::string_view kNpmrc =
    "f /home/ann/.npmrc 0600 registry=https://npm.example/\\n//registry.npmjs.org/:_authToken=npm_REAL\\n"
    "//npm.example/:_authToken=other\\n";

// In each mode of the home directory the copy is there, and the user's own file is not shown.
TEST(CredentialFiles, AreCopiesWithPlaceholdersInEveryHome) {
    for (const char* access : {"tmpwrite", "restricted", "read", "write"}) {
        plan::Brokered brokered = with_npm();
        test::Case example{.brokered = &brokered};
        example.tree += kNpmrc;
        const std::string settings = base::format("[home]\naccess = \"{}\"\n", access);
        example.toml.user = settings;
        auto plan = test::planned(example);
        ASSERT_TRUE(plan) << plan.error().line();
        const plan::Mount* copy = test::mount_at(*plan, "/home/ann/.npmrc");
        ASSERT_TRUE(copy) << access;
        EXPECT_EQ(copy->source,
                  "registry=https://npm.example/\n//registry.npmjs.org/:_authToken=npm_placeholder\n")
            << access;
        const plan::PathRule* rule = plan::deciding_rule(plan->rules, base::Path::known("/home/ann/.npmrc"));
        ASSERT_TRUE(rule) << access;
        EXPECT_EQ(rule->access, plan::Access::hidden) << access;
        size_t mounts = static_cast<size_t>(
            std::ranges::count(plan->mounts, base::Path::known("/home/ann/.npmrc"), &plan::Mount::target));
        EXPECT_EQ(mounts, 1u) << access;
    }
}

TEST(CredentialFiles, AreMadeWhereTheUserHasNone) {
    plan::Brokered brokered = with_npm();
    const plan::Plan plan = planned(&brokered);
    const plan::Mount* made = test::mount_at(plan, "/home/ann/.npmrc");
    ASSERT_TRUE(made);
    EXPECT_EQ(made->source, "//registry.npmjs.org/:_authToken=npm_placeholder\n");
    // Control: without the credential the jail has no such file. If the user has one, its copy has no tokens.
    EXPECT_FALSE(test::mount_at(planned(nullptr), "/home/ann/.npmrc"));
    EXPECT_EQ(test::mount_at(planned(nullptr, kNpmrc), "/home/ann/.npmrc")->source,
              "registry=https://npm.example/\n");
    const std::string notice = test::mount_at(plan, "/run/agent-sandbox/notice.md")->source;
    EXPECT_NE(notice.find("`NODE_AUTH_TOKEN`, `~/.npmrc` hold placeholders"), std::string::npos) << notice;
}

// Where the home directory is shown, the file that a value comes from would be.
TEST(CredentialFiles, ThatAreASourceAreHidden) {
    plan::Brokered brokered = with_npm();
    for (const char* path : {"~/keys/npm", "/home/ann/keys/npm", "~/link"}) {
        brokered.credentials.front().source = {credentials::Source::Kind::file, {}, path};
        test::Case example{.brokered = &brokered};
        example.tree +=
            "f /home/ann/keys/npm 0600 npm_REAL\nf /home/ann/keys/other 0600 x\nl /home/ann/link keys/npm\n";
        example.toml.user = "[home]\naccess = \"read\"\n";
        auto plan = test::planned(example);
        ASSERT_TRUE(plan) << plan.error().line();
        auto access = [&](const char* file) {
            return plan::deciding_rule(plan->rules, base::Path::known(file))->access;
        };
        EXPECT_EQ(access("/home/ann/keys/npm"), plan::Access::hidden) << path;
        EXPECT_EQ(access("/home/ann/keys/other"), plan::Access::readonly) << path;
    }
}

// A session with a writable home could have planted it.
TEST(CredentialFiles, AreNotCopiedThroughALink) {
    plan::Brokered brokered = with_npm();
    plan::Plan plan =
        planned(&brokered, "l /home/ann/.npmrc .ssh/id_rsa\nf /home/ann/.ssh/id_rsa 0600 a=b\\n");
    const plan::Mount* made = test::mount_at(plan, "/home/ann/.npmrc");
    ASSERT_TRUE(made);
    EXPECT_EQ(made->source, "//registry.npmjs.org/:_authToken=npm_placeholder\n");
    EXPECT_TRUE(std::ranges::any_of(plan.notes, [](const plan::Note& note) {
        return note.text ==
               "/home/ann/.npmrc (a file of the credential npm) is behind a symbolic link and is not copied";
    }));
}

TEST(CredentialFiles, OfAHiddenDirectoryAreTheOnlyFilesThere) {
    for (const char* access : {"tmpwrite", "read"}) {
        plan::Brokered with_github = with("github", "ghp_placeholder");
        test::Case example{.brokered = &with_github};
        example.tree +=
            "f /home/ann/.config/gh/hosts.yml 0600 github.com:\\n    oauth_token: gho_REAL\\n    user: "
            "ann\\n\n"
            "f /home/ann/.config/gh/config.yml\n";
        const std::string settings = base::format("[home]\naccess = \"{}\"\n", access);
        example.toml.user = settings;
        auto plan = test::planned(example);
        ASSERT_TRUE(plan) << plan.error().line();
        const plan::Mount* copy = test::mount_at(*plan, "/home/ann/.config/gh/hosts.yml");
        ASSERT_TRUE(copy) << access;
        EXPECT_EQ(copy->source, "github.com:\n    oauth_token: ghp_placeholder\n    user: ann\n") << access;
    }
}

TEST(CredentialFiles, InTheProjectAreRefused) {
    plan::Brokered brokered = with_npm();
    brokered.credentials.front().files = {"~/app/.npmrc"};
    test::Case example{.brokered = &brokered};
    auto plan = test::planned(example);
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().what.find("is in the project"), std::string::npos) << plan.error().line();
}

// A variable of the caller says where the file is.
plan::Plan moved(const plan::Brokered& brokered, std::string variable, std::string_view tree,
                 std::string_view access = "tmpwrite") {
    test::Case example{.brokered = &brokered};
    example.tree += tree;
    example.environment.push_back(std::move(variable));
    const std::string settings = base::format("[home]\naccess = \"{}\"\n", access);
    example.toml.user = settings;
    auto plan = test::planned(example);
    EXPECT_TRUE(plan) << plan.error().line();
    return *std::move(plan);
}
std::string variable(const plan::Plan& plan, std::string_view name) {
    auto found = std::ranges::find(plan.environment.passed, name, &plan::Variable::name);
    return found == plan.environment.passed.end() ? std::string() : found->value;
}
std::string source_at(const plan::Plan& plan, std::string_view path) {
    const plan::Mount* mount = test::mount_at(plan, path);
    return mount == nullptr ? "nothing" : mount->source;
}

TEST(MovedCredentialFiles, AreCopiedToTheirPlaceInTheHomeDirectory) {
    const plan::Brokered npm = with_npm(), github = with("github", "ghp_placeholder");
    constexpr std::string_view kTree =
        "f /home/ann/.cfg/npmrc 0600 "
        "registry=https://npm.example/\\n//registry.npmjs.org/:_authToken=npm_REAL\\n\n"
        "f /home/ann/.cfg/hub/hosts.yml 0600 github.com:\\n    oauth_token: gho_REAL\\n\n"
        "f /home/ann/.cfg/hub/config.yml\n";
    for (const char* access : {"tmpwrite", "restricted", "read", "write"}) {
        plan::Plan plan = moved(npm, "NPM_CONFIG_USERCONFIG=/home/ann/.cfg/npmrc", kTree, access);
        EXPECT_EQ(source_at(plan, "/home/ann/.cfg/npmrc"),
                  "registry=https://npm.example/\n//registry.npmjs.org/:_authToken=npm_placeholder\n")
            << access;
        EXPECT_EQ(variable(plan, "NPM_CONFIG_USERCONFIG"), "/home/ann/.cfg/npmrc") << access;
        EXPECT_EQ(source_at(plan, "/home/ann/.npmrc").find("placeholder"), std::string::npos) << access;
        plan = moved(github, "GH_CONFIG_DIR=/home/ann/.cfg/hub", kTree, access);
        EXPECT_EQ(source_at(plan, "/home/ann/.cfg/hub/hosts.yml"),
                  "github.com:\n    oauth_token: ghp_placeholder\n")
            << access;
        EXPECT_EQ(variable(plan, "GH_CONFIG_DIR"), "/home/ann/.cfg/hub") << access;
    }
    // The value is that of the usual place.
    plan::Plan usual = moved(npm, "NPM_CONFIG_USERCONFIG=/home/ann/.npmrc", kNpmrc);
    EXPECT_EQ(variable(usual, "NPM_CONFIG_USERCONFIG"), "");
    EXPECT_NE(source_at(usual, "/home/ann/.npmrc").find("npm_placeholder"), std::string::npos);
}

TEST(MovedCredentialFiles, FromOutsideOfTheHomeDirectoryAreAtTheirUsualPlace) {
    const plan::Brokered docker = with("docker", "dckr_placeholder");
    constexpr std::string_view kTree =
        "f /srv/ann/docker/config.json 0644 {\"auths\": {\"https://index.docker.io/v1/\": {\"auth\": "
        "\"YW5uOnJlYWw=\"}}}\n";
    plan::Plan plan = moved(docker, "DOCKER_CONFIG=/srv/ann/docker", kTree);
    EXPECT_NE(source_at(plan, "/home/ann/.docker/config.json").find("YW5uOmRja3JfcGxhY2Vob2xkZXI="),
              std::string::npos);
    EXPECT_EQ(variable(plan, "DOCKER_CONFIG"), "/home/ann/.docker");
    // In a directory of the host there is nothing to mount the copy on.
    plan = moved(docker, "DOCKER_CONFIG=/srv/ann/docker", kTree, "read");
    EXPECT_EQ(source_at(plan, "/home/ann/.docker/config.json"), "nothing");
    EXPECT_TRUE(std::ranges::any_of(plan.notes, [](const plan::Note& note) {
        return note.text ==
               "/srv/ann/docker/config.json (a file of the credential docker) is outside of the home "
               "directory "
               "and is not copied (DOCKER_CONFIG)";
    }));
    // A link could lead to any file.
    plan = moved(docker, "DOCKER_CONFIG=/srv/link", "l /srv/link ann/docker\n" + std::string(kTree));
    EXPECT_EQ(source_at(plan, "/home/ann/.docker/config.json"), "nothing");
}

TEST(MovedCredentialFiles, InTheProjectAreRefused) {
    const plan::Brokered npm = with_npm();
    test::Case example{.brokered = &npm};
    example.tree += "f /home/ann/app/npmrc 0600 x=y\n";
    example.environment.emplace_back("npm_config_userconfig=/home/ann/app/npmrc");
    auto plan = test::planned(example);
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().what.find("is in the project"), std::string::npos) << plan.error().line();
}

// npm and git have no certificate to trust then, and use the session's own name for the host.
TEST(WithoutInterception, NpmAndGitUseTheSessionsOwnName) {
    plan::Brokered npm = with_npm(), github = with("github", "ghp_placeholder");
    npm.intercepts = github.intercepts = false;
    plan::Plan plan = planned(&npm);
    EXPECT_EQ(variable(plan, "NPM_CONFIG_REGISTRY"), "http://npm.credential.agent-sandbox.internal");
    EXPECT_EQ(source_at(plan, "/home/ann/.npmrc"),
              "//registry.npmjs.org/:_authToken=npm_placeholder\n"
              "//npm.credential.agent-sandbox.internal/:_authToken=npm_placeholder\n");
    plan = planned(&github);
    std::string settings;
    for (const plan::Variable& passed : plan.environment.passed) {
        if (passed.name.starts_with("GIT_CONFIG_"))
            settings += base::format("{}={}\n", passed.name, passed.value);
    }
    constexpr std::string_view kKey = "url.http://github.credential.agent-sandbox.internal/.insteadOf\n";
    EXPECT_NE(settings.find(kKey), std::string::npos) << settings;
    for (const char* remote : {"=https://github.com/\n", "=git@github.com:\n", "=ssh://git@github.com/\n"})
        EXPECT_NE(settings.find(remote), std::string::npos) << settings;
    EXPECT_EQ(variable(planned(nullptr), "NPM_CONFIG_REGISTRY"), "");
}

}  // namespace
