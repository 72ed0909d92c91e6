// SPDX-License-Identifier: MIT
// What the jail gets in a session with credentials: placeholders, trust in the session's root, and a notice.
#include "plan/network/broker.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "plan/backend.h"
#include "plan/case.h"
#include "plan/print/summary.h"

namespace {

constexpr std::string_view kRoot = "-----BEGIN CERTIFICATE-----\nof the session\n-----END CERTIFICATE-----\n";

plan::Brokered brokered() {
    plan::Brokered made;
    made.credentials.push_back(
        *credentials::make_credential("github", *credentials::preset_values("github"), {}));
    made.placeholders.emplace_back("ghp_placeholder");
    made.root = []() -> base::Result<plan::RootCertificate> {
        return plan::RootCertificate{std::string(kRoot), "1a2b3c4d.0"};
    };
    return made;
}

plan::Plan planned(const plan::Brokered* brokered, std::string_view tree = "") {
    test::Case example{.agent = "[agent]\ncommands = [\"tiny\"]\nstate = [\".tiny\"]\n",
                       .brokered = brokered};
    example.tree += tree;
    auto plan = test::planned(example);
    EXPECT_TRUE(plan) << plan.error().line();
    return *std::move(plan);
}

std::string variable(const plan::Plan& plan, std::string_view name) {
    auto found = std::ranges::find(plan.environment.passed, name, &plan::Variable::name);
    return found == plan.environment.passed.end() ? std::string() : found->value;
}

TEST(Broker, PutsThePlaceholderIntoItsVariables) {
    plan::Brokered with = brokered();
    plan::Plan plan = planned(&with);
    EXPECT_EQ(variable(plan, "GH_TOKEN"), "ghp_placeholder");
    EXPECT_EQ(variable(plan, "GITHUB_TOKEN"), "ghp_placeholder");
    EXPECT_EQ(variable(plan, "SSL_CERT_FILE"), "/run/agent-sandbox/trust/ca-certificates.crt");
    plan::Plan without = planned(nullptr);
    EXPECT_EQ(variable(without, "GH_TOKEN"), "");
    EXPECT_EQ(variable(without, "SSL_CERT_FILE"), "");
}

// Debian, RHEL and SUSE.
TEST(Broker, LeadsEveryBundleOfTheHostToTheOneOfTheSession) {
    struct Layout {
        const char* tree;
        const char* bundle;
    };
    for (const Layout& layout :
         {Layout{"f /etc/ssl/certs/ca-certificates.crt 0644 theirs\nf /etc/ssl/certs/other.pem\n",
                 "/etc/ssl/certs/ca-certificates.crt"},
          Layout{"f /etc/pki/tls/certs/ca-bundle.crt 0644 theirs\n", "/etc/pki/tls/certs/ca-bundle.crt"},
          Layout{"f /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem 0644 theirs\n",
                 "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"},
          Layout{"f /etc/ssl/ca-bundle.pem 0644 theirs\n", "/etc/ssl/ca-bundle.pem"}}) {
        plan::Brokered with = brokered();
        plan::Plan plan = planned(&with, layout.tree);
        const plan::Mount* bundle = test::mount_at(plan, layout.bundle);
        ASSERT_TRUE(bundle) << layout.bundle;
        EXPECT_EQ(bundle->source, "/run/agent-sandbox/trust/ca-certificates.crt") << layout.bundle;
        const plan::Mount* file = test::mount_at(plan, "/run/agent-sandbox/trust/ca-certificates.crt");
        ASSERT_TRUE(file);
        EXPECT_TRUE(file->source.starts_with("theirs")) << file->source;
        EXPECT_NE(file->source.find("of the session"), std::string::npos) << file->source;
    }
    plan::Brokered with = brokered();
    plan::Plan plan = planned(&with, "f /etc/ssl/certs/other.pem\n");
    ASSERT_TRUE(test::mount_at(plan, "/etc/ssl/certs/1a2b3c4d.0"));
    EXPECT_EQ(test::mount_at(plan, "/etc/ssl/certs/other.pem")->source, "/run/host/etc/ssl/certs/other.pem");
}

// The variable makes each start of Java print a line, so a system's own JDK does not get it.
TEST(Broker, LeadsAJdkWithRootsOfItsOwnByAVariable) {
    constexpr std::string_view kOwn =
        "f /home/ann/.jdks/21/bin/java 0755\nf /home/ann/.jdks/21/lib/security/cacerts\n";
    constexpr std::string_view kSystem =
        "f /usr/lib/jvm/17/bin/java 0755\nl /usr/bin/java ../lib/jvm/17/bin/java\n"
        "f /etc/ssl/certs/java/cacerts\nl /usr/lib/jvm/17/lib/security/cacerts /etc/ssl/certs/java/cacerts\n";
    plan::Brokered with = brokered();
    auto options = [&](std::string_view tree, std::string environment, std::string_view settings) {
        test::Case example{.brokered = &with};
        example.tree += tree;
        example.environment.push_back(std::move(environment));
        example.toml.user = settings;
        auto plan = test::planned(example);
        EXPECT_TRUE(plan) << plan.error().line();
        std::string value = variable(*plan, "JAVA_TOOL_OPTIONS");
        bool has_store = test::mount_at(*plan, "/run/agent-sandbox/trust/cacerts") != nullptr;
        EXPECT_TRUE(has_store || value.empty());
        return value;
    };
    constexpr std::string_view kShown = "[home]\nreadonly = [\".jdks\"]\n";
    constexpr std::string_view kOption =
        "-Djavax.net.ssl.trustStore=/run/agent-sandbox/trust/cacerts "
        "-Djavax.net.ssl.trustStorePassword=changeit";
    EXPECT_EQ(options(kOwn, "JAVA_HOME=/home/ann/.jdks/21", kShown), kOption);
    EXPECT_EQ(options(kOwn, "PATH=/usr/bin:/home/ann/.jdks/21/bin", kShown), kOption);
    EXPECT_EQ(options("f /srv/jdk/bin/java 0755\nf /srv/jdk/lib/security/cacerts\n", "PATH=/srv/jdk/bin", ""),
              "")
        << "the jail does not show it";
    EXPECT_EQ(options(kSystem, "JAVA_HOME=/usr/lib/jvm/17", ""), "");
    EXPECT_EQ(options("", "JAVA_HOME=/nowhere", ""), "");
}

// firejail and Landlock: the session's own names lead to hosts, and nothing is decrypted.
TEST(Broker, DecryptsOnlyWhereTheJailHasFilesOfItsOwn) {
    plan::Brokered with = brokered();
    for (const char* backend : {"native", "bwrap", "firejail", "landlock"}) {
        test::Case example{.brokered = &with};
        const std::string settings = base::format("[isolation]\nbackend = \"{}\"\n", backend);
        example.toml.user = settings;
        example.machine = [](host::Facts& facts) {
            facts.firejail = {.state = host::ProgramState::usable,
                              .path = base::Path::known("/usr/bin/firejail")};
            facts.landlock_abi = 6;
            facts.can_answer_calls = true;
        };
        auto plan = test::planned(example);
        ASSERT_TRUE(plan) << backend << ": " << plan.error().line();
        bool is_able = plan::traits_of(plan->backend).lays_files;
        EXPECT_EQ(plan->broker.spec.intercepts, is_able) << backend;
        EXPECT_EQ(variable(*plan, "SSL_CERT_FILE").empty(), !is_able) << backend;
        EXPECT_EQ(variable(*plan, "GH_TOKEN"), "ghp_placeholder") << backend;
    }
}

TEST(Broker, RefusesRulesThatNothingWouldHold) {
    plan::Brokered with = brokered();
    with.requests.block.push_back({"DELETE api.github.com/**", config::from_flag("--block-request")});
    with.intercepts = false;
    test::Case off{.brokered = &with};
    auto plan = test::planned(off);
    ASSERT_FALSE(plan.ok());
    EXPECT_NE(plan.error().what.find("credentials.intercept is off"), std::string::npos) << plan.error().what;
    with.intercepts = true;
    test::Case landlock{.brokered = &with};
    landlock.toml.user = "[isolation]\nbackend = \"landlock\"\n";
    landlock.machine = [](host::Facts& facts) {
        facts.landlock_abi = 6;
        facts.can_answer_calls = true;
    };
    auto weaker = test::planned(landlock);
    ASSERT_FALSE(weaker.ok());
    EXPECT_NE(weaker.error().what.find("can't decrypt"), std::string::npos) << weaker.error().what;
}

TEST(Broker, TakesNoRootsFromAFileThatTheJailCanWrite) {
    auto roots = [](std::string_view variable, std::string_view tree) {
        plan::Brokered with = brokered();
        test::Case example{.brokered = &with};
        example.tree += tree;
        example.environment.push_back("NODE_EXTRA_CA_CERTS=" + std::string(variable));
        auto plan = test::planned(example);
        EXPECT_TRUE(plan) << plan.error().line();
        return plan->broker.roots;
    };
    constexpr std::string_view kFiles =
        "f /home/ann/ca.pem 0644 outside\nf /home/ann/app/ca.pem 0644 inside\n"
        "l /home/ann/link.pem /home/ann/app/ca.pem\nl /home/ann/two.pem /home/ann/app/hop\n"
        "l /home/ann/app/hop /home/ann/ca.pem\n";
    EXPECT_NE(roots("/home/ann/ca.pem", kFiles).find("outside"), std::string::npos);
    EXPECT_EQ(roots("/home/ann/app/ca.pem", kFiles).find("inside"), std::string::npos);
    EXPECT_EQ(roots("/home/ann/link.pem", kFiles).find("inside"), std::string::npos);
    EXPECT_EQ(roots("/home/ann/two.pem", kFiles).find("outside"), std::string::npos);
}

TEST(Broker, RulesAreNoObstacleToAnIsolatedNetworkAndCredentialsAre) {
    plan::Brokered with = brokered();
    test::Case example{.brokered = &with};
    example.toml.user = "[network]\nmode = \"isolated\"\n";
    EXPECT_FALSE(test::planned(example));
    with.credentials.clear();
    with.placeholders.clear();
    with.requests.block.push_back({"DELETE api.example.org/**", config::from_flag("--block-request")});
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_TRUE(plan->broker.spec.is_empty());
    example.toml.user = "[network]\nmode = \"open\"\n";
    EXPECT_FALSE(test::planned(example));
}

TEST(Broker, IsAnErrorIfTheRootCantBeMade) {
    plan::Brokered with = brokered();
    with.root = []() -> base::Result<plan::RootCertificate> { return base::Error{.what = "no root"}; };
    test::Case example{.brokered = &with};
    auto plan = test::planned(example);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().what, "no root");
}

// With interception no address changes, so the line is left out.
TEST(Broker, GivesTheAddressOfACredentialToTheFilesOfTheAgent) {
    for (bool intercepts : {true, false}) {
        plan::Brokered with = brokered();
        with.credentials = {
            *credentials::make_credential("openai", *credentials::preset_values("openai"), {})};
        with.intercepts = intercepts;
        test::Case example{.agent =
                               "[agent]\ncommands = [\"tiny\"]\n[agent.files]\n\"/etc/tiny.conf\" = "
                               "\"first\\nurl = '{variable:OPENAI_BASE_URL}' # ours\\nlast\\n\"\n",
                           .brokered = &with};
        auto plan = test::planned(example);
        ASSERT_TRUE(plan) << plan.error().line();
        const plan::Mount* file = test::mount_at(*plan, "/etc/tiny.conf");
        ASSERT_TRUE(file);
        EXPECT_EQ(file->source,
                  intercepts
                      ? "first\nlast\n"
                      : "first\nurl = 'http://openai.credential.agent-sandbox.internal/v1' # ours\nlast\n");
    }
}

// Placeholders are random: a digest that contains them differs from session to session.
TEST(Broker, HasADigestWithoutPlaceholders) {
    plan::Brokered with = brokered();
    with.requests.block.push_back({"DELETE api.github.com/**", config::from_flag("--block-request")});
    plan::Plan plan = planned(&with);
    const std::string summary = plan::encode_summary(plan);
    EXPECT_EQ(summary.find("ghp_placeholder"), std::string::npos);
    plan::Brokered other = with;
    other.placeholders = {"ghp_another_one"};
    other.root = []() -> base::Result<plan::RootCertificate> {
        return plan::RootCertificate{"another root", "5e6f7a8b.0"};
    };
    EXPECT_EQ(plan::policy_digest(planned(&other)), plan::policy_digest(plan));
    other.requests.block.clear();
    EXPECT_NE(plan::policy_digest(planned(&other)), plan::policy_digest(plan));
    EXPECT_NE(plan::policy_digest(planned(nullptr)), plan::policy_digest(plan));

    base::Result<plan::Plan> inside = plan::decode_summary(summary);
    ASSERT_TRUE(inside) << inside.error().line();
    ASSERT_EQ(inside->broker.credentials.size(), 1u);
    EXPECT_EQ(inside->broker.credentials[0].name, "github");
    EXPECT_EQ(inside->broker.credentials[0].variables,
              (std::vector<std::string>{"GH_TOKEN", "GITHUB_TOKEN"}));
    ASSERT_EQ(inside->broker.spec.requests.block.size(), 1u);
    EXPECT_EQ(inside->broker.spec.requests.block[0].text, "DELETE api.github.com/**");
}

TEST(Broker, TellsTheAgent) {
    plan::Brokered with = brokered();
    const std::string notice = test::mount_at(planned(&with), "/run/agent-sandbox/notice.md")->source;
    EXPECT_NE(notice.find("\n- The values of these credentials stay outside: github."), std::string::npos)
        << notice;
    EXPECT_NE(notice.find("`GH_TOKEN`, `GITHUB_TOKEN` hold placeholders"), std::string::npos) << notice;
    const std::string without = test::mount_at(planned(nullptr), "/run/agent-sandbox/notice.md")->source;
    EXPECT_EQ(without.find("placeholder"), std::string::npos) << without;
    EXPECT_EQ(without.find("{credentials}"), std::string::npos) << without;
}

}  // namespace
