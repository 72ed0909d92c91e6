// SPDX-License-Identifier: MIT
#include "credentials/credential.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/parse.h"
#include "config/data.h"
#include "credentials/properties.h"
#include "fuzz/over_corpus.h"

namespace credentials {
namespace {

config::Values values_of(std::string_view text) {
    auto values = parse_credential_file(config::Layer::user, "config.toml", text);
    EXPECT_TRUE(values.ok()) << (values.ok() ? "" : values.error().line());
    return values.ok() ? *values : config::Values();
}

std::string complaint(std::string_view text) {
    auto values = parse_credential_file(config::Layer::user, "config.toml", text);
    if (!values) return values.error().line();
    auto made = make_credential("tracker", {}, *values);
    return made.ok() ? "" : made.error().line();
}

constexpr std::string_view kTracker =
    "hosts = [\"tracker.example.org\"]\nput = \"header X-Token\"\nvariable = \"TRACKER_TOKEN\"\nshape = "
    "\"trk_{40}\"\n";
std::string tracker(std::string_view more) {
    return std::string(kTracker) + std::string(more);
}

TEST(Credential, SetsAVariableThatClientsNeedBesideThePlaceholder) {
    auto made = make_credential(
        "tracker", {},
        values_of("hosts = [\"a.example\"]\nput = \"basic me\"\nvariable = \"TOKEN NAME=me EMPTY=\"\nshape = "
                  "\"{40}\""));
    ASSERT_TRUE(made.ok()) << made.error().line();
    EXPECT_EQ(made->variables, std::vector<std::string>{"TOKEN"});
    EXPECT_EQ(made->fixed_variables,
              (std::vector<std::pair<std::string, std::string>>{{"NAME", "me"}, {"EMPTY", ""}}));
    EXPECT_NE(complaint("hosts = [\"a.example\"]\nput = \"bearer\"\nvariable = \"A =b\"\nshape = \"{40}\""),
              "");
}

TEST(Credential, ForSignaturesHasAKeyOfTwoParts) {
    constexpr std::string_view kStart = "hosts = [\"a.example\"]\nput = \"sigv4\"\n";
    constexpr std::string_view kVariable = "variable = \"ID KEY\"\n",
                               kShape = "shape = \"AKIA{16:A-Z0-9} {40}\"\n";
    auto with = [&](std::string_view variable, std::string_view shape, std::string_view more = "") {
        return std::string(kStart).append(variable).append(shape).append(more);
    };
    auto made = make_credential(
        "aws", {}, values_of(with(kVariable, kShape, "scope = [\"eu-central-1/s3\", \"*/sts\"]\n")));
    ASSERT_TRUE(made.ok()) << made.error().line();
    EXPECT_TRUE(made->signs());
    EXPECT_EQ(made->binding("ID SECRET").scope.size(), 2u);
    EXPECT_NE(complaint(with("variable = \"ID\"\n", kShape)).find("two variables"), std::string::npos);
    EXPECT_NE(complaint(with(kVariable, "shape = \"AKIA{36}\"\n")).find("two parts"), std::string::npos);
    EXPECT_NE(complaint(with(kVariable, kShape, "scope = [\"s3\"]\n")).find("REGION/SERVICE"),
              std::string::npos);
    EXPECT_NE(
        complaint(with(kVariable, kShape, "files = [\"~/k\"]\nfields = [\"k\"]\n")).find("variables alone"),
        std::string::npos);
    EXPECT_NE(complaint(tracker("scope = [\"*/s3\"]\n")).find("sigv4"), std::string::npos);
    EXPECT_NE(
        complaint("hosts = [\"a.example\"]\nput = \"bearer\"\nvariable = \"A\"\nshape = \"{20} {20}\"\n")
            .find("sigv4"),
        std::string::npos);
    EXPECT_NE(complaint("hosts = [\"a.example\"]\nput = \"sigv4 or bearer\"\n").find("stands alone"),
              std::string::npos);
}

TEST(Credential, OfAUserNeedsNoPreset) {
    auto made = make_credential(
        "tracker", {}, values_of(tracker("from_file = \"~/.config/tracker/token\"\nlifetime = \"10m\"")));
    ASSERT_TRUE(made.ok()) << made.error().line();
    EXPECT_EQ(made->hosts.at(0).text(), "tracker.example.org");
    EXPECT_EQ(made->puts.at(0).field(), "X-Token");
    EXPECT_EQ(made->variables, std::vector<std::string>{"TRACKER_TOKEN"});
    EXPECT_EQ(made->source.kind, Source::Kind::file);
    EXPECT_EQ(made->source.describe(), "the file ~/.config/tracker/token");
    EXPECT_EQ(made->lifetime, 600);
    EXPECT_FALSE(made->adds_always);
    EXPECT_EQ(made->origin.describe(), "config.toml:5");
    network::exchange::Binding binding = made->binding("placeholder");
    EXPECT_TRUE(binding.is_for("tracker.example.org", 443));
    EXPECT_FALSE(binding.is_for("example.org", 443));
}

TEST(Credential, OfAUserChangesAPresetKeyByKey) {
    auto preset = preset_values("github");
    ASSERT_TRUE(preset.ok());
    auto own = values_of(
        "from_command = [\"gh\", \"auth\", \"token\", \"token\"]\npaths = [\"github.com/me/**\", "
        "\"api.github.com/user\"]");
    auto made = make_credential("github", *preset, own);
    ASSERT_TRUE(made.ok()) << made.error().line();
    EXPECT_EQ(made->source.describe(), "the command gh auth token token") << "a word may be there twice";
    EXPECT_EQ(made->paths.size(), 2u);
    EXPECT_EQ(made->hosts.size(), 3u) << "of the preset";
    EXPECT_TRUE(made->git_rewrite);
}

TEST(Credential, WithAMistakeNamesItsLine) {
    EXPECT_EQ(complaint(tracker("hostes = []")),
              "config.toml:5:1: unknown setting 'hostes'; did you mean 'hosts'?");
    EXPECT_EQ(
        complaint("hosts = [\"*.com\"]\nput = \"bearer\"\nvariable = \"A\"\nshape = \"{40}\""),
        "config.toml:1: credential.tracker.hosts: any person can register a name below com; name the hosts");
    EXPECT_EQ(
        complaint(tracker("from_env = \"A\"\nfrom_file = \"/x\"")).find("there is more than one source") !=
            std::string::npos,
        true);
    for (std::string_view text :
         {"put = \"bearer\"\nvariable = \"A\"\nshape = \"{40}\"",
          "hosts = []\nput = \"bearer\"\nvariable = \"A\"\nshape = \"{40}\"",
          "hosts = [\"a.example\"]\nvariable = \"A\"\nshape = \"{40}\"",
          "hosts = [\"a.example\"]\nput = \"bearer\"\nshape = \"{40}\"",
          "hosts = [\"a.example\"]\nput = \"bearer\"\nvariable = \"A\"",
          "hosts = [\"10.0.0.1\"]\nput = \"bearer\"\nvariable = \"A\"\nshape = \"{40}\"",
          "hosts = [\"a.example/x\"]\nput = \"bearer\"\nvariable = \"A\"\nshape = \"{40}\""})
        EXPECT_NE(complaint(text), "") << text;
    for (std::string_view more : {"put = \"x\"",
                                  "when = \"never\"",
                                  "paths = [\"other.example/x\"]",
                                  "paths = [\"x\"]",
                                  "methods = [\"get\"]",
                                  "fields = [\"x\"]",
                                  "files = [\"~/.x\"]",
                                  "from_env = \"a b\"",
                                  "from_command = []",
                                  "from_keyring = [\"x\"]",
                                  "base_url = \"a b\"",
                                  "base_url = \"A=x\"",
                                  "probe = \"GET other.example/x\"",
                                  "probe = \"GET tracker.example.org/*\"",
                                  "probe = \"GET,POST tracker.example.org/x\"",
                                  "probe = \"x\"",
                                  "lifetime = \"x\"",
                                  "git_rewrite = \"yes\"",
                                  "issues = [\"x\"]",
                                  "issues = [\"POST login.example.org/token access_token\"]"})
        EXPECT_NE(complaint(tracker(more)), "") << more;
    EXPECT_NE(complaint("hosts = [\"a.example\"]\nput = \"query key\"\nwhen = \"always\"\nvariable = "
                        "\"A\"\nshape = \"{40}\""),
              "");
    EXPECT_NE(
        complaint(
            "hosts = [\"a.example\"]\nput = \"bearer\"\nvariable = \"AGENT_SANDBOX_X\"\nshape = \"{40}\""),
        "");
    EXPECT_EQ(complaint(kTracker), "") << "the control";
    EXPECT_EQ(complaint(tracker("probe = \"GET tracker.example.org/me\"\npaths = [\"/me\"]")), "");
    EXPECT_NE(complaint(tracker("probe = \"GET tracker.example.org/you\"\npaths = [\"/me\"]")), "");
}

TEST(Credential, HasANameThatFitsIntoFileAndHostNames) {
    for (const char* name : {"github", "my-token_2"}) EXPECT_TRUE(config::is_credential_name(name)) << name;
    for (const char* name : {"", "a/b", "..", "A", "-x", "a b", "a.b"}) {
        EXPECT_FALSE(config::is_credential_name(name)) << name;
        EXPECT_FALSE(make_credential(name, {}, values_of(kTracker)).ok());
    }
    EXPECT_FALSE(config::is_credential_name(std::string(64, 'a')));
}

TEST(Presets, AreCompleteAndWellFormed) {
    std::set<std::string> expected = {"anthropic", "aws", "openai", "gemini", "github",
                                      "gitlab",    "npm", "pypi",   "docker", "huggingface"};
    const std::set<std::string> logins = {"claude-login",
                                          "claude-login-refresh",
                                          "codex-login",
                                          "codex-login-id",
                                          "codex-login-refresh",
                                          "gemini-login",
                                          "gemini-login-refresh",
                                          "opencode-login",
                                          "opencode-login-refresh",
                                          "pi-login",
                                          "pi-login-refresh"};
    expected.insert(logins.begin(), logins.end());
    std::vector<std::string> names = preset_names();
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), expected);
    for (const std::string& name : names) {
        auto values = preset_values(name);
        ASSERT_TRUE(values.ok()) << values.error().line();
        auto made = make_credential(name, *values, {});
        ASSERT_TRUE(made.ok()) << made.error().line();
        EXPECT_NE(made->title, name);
        EXPECT_EQ(made->is_login(), logins.contains(name)) << name;
        EXPECT_EQ(made->is_login(), !made->issues.empty()) << name;
        EXPECT_TRUE(made->is_login() || made->source.kind == Source::Kind::none)
            << name << ": a preset names no source of a user but the file of a log-in";
        EXPECT_TRUE(made->shape.has_value());
    }
}

// Threat: a token of another account in a place that the preset does not name (tests/exchange/swap_test.cc).
TEST(Presets, NameEveryPlaceInWhichTheirServersReadATokenByTheirDocumentation) {
    auto places = [](const std::string& preset) {
        std::set<std::string> names;
        auto made = make_credential(preset, *preset_values(preset), {});
        for (const network::exchange::Put& put : made->puts)
            names.insert(put.field().empty() ? "?" + put.name : base::lower(std::string(put.field())));
        return names;
    };
    EXPECT_EQ(places("gitlab"),
              (std::set<std::string>{"authorization", "private-token", "job-token", "deploy-token",
                                     "?private_token", "?access_token", "?job_token"}));
    EXPECT_EQ(places("gemini"), (std::set<std::string>{"authorization", "x-goog-api-key", "?key", "?$key",
                                                       "?access_token", "?oauth_token"}));
    EXPECT_EQ(places("anthropic"), (std::set<std::string>{"authorization", "x-api-key"}));
}

TEST(Presets, ThatAreUnknownGetTheNearestName) {
    EXPECT_EQ(preset_values("githup").error().line(),
              "there is no preset of a credential 'githup'; 'github' was probably meant");
    EXPECT_FALSE(preset_values("../presets/review").ok());
}

TEST(CredentialProperties, HoldForTheSeeds) {
    fuzz::expect_unbroken("credentials/corpus/preset", broken_for_preset);
    fuzz::expect_unbroken("credentials/corpus/shape", broken_for_shape);
    fuzz::expect_unbroken("credentials/corpus/login_file", broken_for_login_file);
}

}  // namespace
}  // namespace credentials
