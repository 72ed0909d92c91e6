// SPDX-License-Identifier: MIT
// Copies of files with placeholders: the fields of credentials change, other secrets are left out, and the
// rest stays. The control of each "left out" is the text that stays beside it.
#include "credentials/file_copy.h"

#include <gtest/gtest.h>

#include "base/encoding/base64.h"
#include "credentials/credential.h"
#include "credentials/properties.h"
#include "fuzz/over_corpus.h"

namespace {

using credentials::copy_with_placeholders;
using credentials::FilledField;

constexpr std::string_view kOwn = "tok_REALvalueREALvalueREALvalue00001";
constexpr std::string_view kOther = "0ther5ecret0ther5ecret0ther5ecret";

FilledField filled_field(std::string_view text, std::string placeholder = "PLACEHOLDER") {
    auto field = credentials::parse_file_field(text);
    EXPECT_TRUE(field) << text << ": " << field.error().line();
    return {*field, std::move(placeholder)};
}

std::string copied(std::string_view name, std::string content, std::vector<FilledField> fields) {
    auto copy = copy_with_placeholders(name, content, fields);
    return copy ? copy->text : "(nothing)";
}

TEST(FileCopy, OfNpmrcHasThePlaceholderAndNoOtherToken) {
    EXPECT_EQ(copied(".npmrc",
                     "registry=https://registry.npmjs.org/\n//registry.npmjs.org/:_authToken=" +
                         std::string(kOwn) + "\n//npm.corp.example/:_authToken=" + std::string(kOther) +
                         "\n_auth=" + std::string(kOther) + "\nsave-exact = true\n; " + std::string(kOther),
                     {filled_field("//registry.npmjs.org/:_authToken")}),
              "registry=https://registry.npmjs.org/\n//registry.npmjs.org/:_authToken=PLACEHOLDER\n"
              "save-exact = true\n");
    EXPECT_EQ(copied(".npmrc", "", {filled_field("//registry.npmjs.org/:_authToken")}),
              "//registry.npmjs.org/:_authToken=PLACEHOLDER\n");
}

TEST(FileCopy, OfPypircChangesTheKeyOfItsSectionAlone) {
    EXPECT_EQ(
        copied(".pypirc",
               "[distutils]\nindex-servers =\n    pypi\n    lab\n\n[pypi]\nusername = __token__\n"
               "password = pypi-REAL\n    second-line-of-it\n[lab]\nrepository: https://pypi.lab.example/up\n"
               "username = ann\npassword = hunter2\n",
               {filled_field("[pypi] password")}),
        "[distutils]\nindex-servers =\n    pypi\n    lab\n[pypi]\nusername = __token__\n"
        "password = PLACEHOLDER\n[lab]\nrepository: https://pypi.lab.example/up\nusername = ann\n");
    EXPECT_EQ(copied(".pypirc", "[lab]\npassword = hunter2\n", {filled_field("[pypi] password")}),
              "(nothing)");
}

TEST(FileCopy, OfDockersFileKeepsTheUserAndDropsOtherRegistries) {
    const FilledField field = filled_field("basic auths.\"https://index.docker.io/v1/\".auth");
    const std::string own = base::to_base64("ann:" + std::string(kOwn)),
                      other = base::to_base64("ann:" + std::string(kOther));
    EXPECT_EQ(
        copied("config.json",
               R"({"auths": {"https://index.docker.io/v1/": {"auth": ")" + own +
                   R"(", "email": "ann@example.org", "identitytoken": ")" + std::string(kOther) +
                   R"("}, "ghcr.io": {"auth": ")" + other +
                   R"("}}, "credsStore": "desktop", "detachKeys": "ctrl-q", "HttpHeaders": {"X-Meta": ")" +
                   std::string(kOther) + R"("}, "currentContext": "default", "aliases": {"a": "b"}})",
               {field}),
        "{\n  \"auths\": {\n    \"https://index.docker.io/v1/\": {\n      \"auth\": \"" +
            base::to_base64("ann:PLACEHOLDER") +
            "\",\n      \"email\": \"ann@example.org\"\n    }\n  },\n  \"currentContext\": \"default\",\n"
            "  \"aliases\": {\n    \"a\": \"b\"\n  }\n}\n");
    // Without a user the field can't be written; without the field there is no copy.
    EXPECT_EQ(
        copied("config.json", R"({"auths": {"https://index.docker.io/v1/": {"auth": "none"}}})", {field}),
        "(nothing)");
    EXPECT_EQ(copied("config.json", R"({"auths": {}})", {field}), "(nothing)");
    EXPECT_EQ(copied("config.json", "{", {field}), "(nothing)");
    EXPECT_EQ(copied("config.json", "", {field}), "(nothing)");
}

TEST(FileCopy, OfAJsonFileTakesEveryKeyForAStar) {
    EXPECT_EQ(copied("a.json",
                     R"({"users": {"me": {"token": "x"}, "you": {"token": "y", "id": 7}}, "n": [1, "b"]})",
                     {filled_field("users.*.token")}),
              "{\n  \"users\": {\n    \"me\": {\n      \"token\": \"PLACEHOLDER\"\n    },\n    \"you\": {\n"
              "      \"token\": \"PLACEHOLDER\",\n      \"id\": 7\n    }\n  },\n  \"n\": [\n    1,\n    "
              "\"b\"\n  ]\n}\n");
    // A number is not a value that a placeholder could stand for.
    EXPECT_EQ(copied("a.json", R"({"token": 7})", {filled_field("token")}), "(nothing)");
}

TEST(FileCopy, OfHostsYmlReplacesTheGroupOfThePattern) {
    const FilledField field = filled_field("pattern oauth_token: *\"?([^\" ]+)");
    EXPECT_EQ(
        copied(
            "hosts.yml",
            "github.com:\n    user: me\n    oauth_token: gho_0123456789\n    git_protocol: https\n"
            "    private_key: |\n        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n        short\n    x: y\n",
            {field}),
        "github.com:\n    user: me\n    oauth_token: PLACEHOLDER\n    git_protocol: https\n    x: y\n");
}

TEST(FileCopy, OfNetrcLeavesOutOtherMachinesOnTheSameLine) {
    const FilledField field = filled_field("pattern machine git\\.example login [^ ]+ password ([^ ]+)");
    EXPECT_EQ(
        copied(".netrc",
               "machine a.example login me password abc machine git.example login me password def machine "
               "b.example login me password ghi\nmachine c.example login you password jkl\n",
               {field}),
        "machine git.example login me password PLACEHOLDER\n");
}

TEST(FileCopy, OfTwoCredentialsHasBothPlaceholders) {
    EXPECT_EQ(copied(".npmrc", "//a.example/:_authToken=1\n//b.example/:_authToken=2\n",
                     {filled_field("//a.example/:_authToken", "FIRST"),
                      filled_field("//b.example/:_authToken", "SECOND")}),
              "//a.example/:_authToken=FIRST\n//b.example/:_authToken=SECOND\n");
}

// Every way to spell another secret beside the field.
TEST(FileCopy, LeavesOutWhatMayBeASecret) {
    for (const char* line :
         {"password=x", "Api-Key: x", "proxy=http://ann:hunter2@proxy.example/",
          "x=0ther5ecret0ther5ecret0ther", "x = ghp_0123456789abcdefghijklmnopqrstuvwxyz", "cookie=a",
          "sessionid=a", "x={\"a\":1}", "x=a;b", "x=$TOKENS", "url=https://npm.example/?x=1"}) {
        EXPECT_EQ(copied("file", std::string(line) + "\nname=plain\n", {filled_field("own")}),
                  "own=PLACEHOLDER\nname=plain\n")
            << line;
    }
}

TEST(FileCopy, HoldsItsPropertiesForEverySeed) {
    fuzz::expect_unbroken("credentials/corpus/file_copy", credentials::broken_for_file_copy);
    // Whole seeds have a password beside the fields.
    for (const char* seed : {"npmrc", "pypirc", "json", "lines"}) {
        const std::string content = fuzz::seed("credentials/corpus/file_copy/" + std::string(seed));
        EXPECT_NE(content.find("hunter2"), std::string::npos) << seed;
        const std::string copy =
            copied(content.starts_with('{') ? "file.json" : "file", content,
                   {filled_field("token"), filled_field("[a] password"), filled_field("pattern x=([^ ]+)"),
                    filled_field("basic auths.*.auth")});
        EXPECT_EQ(copy.find("hunter2"), std::string::npos) << copy;
    }
}

TEST(FileField, RefusesWhatNamesNoField) {
    for (const char* text : {"", "[section", "[section]", "pattern (", "pattern abc", "a=b", "basic "})
        EXPECT_FALSE(credentials::parse_file_field(text)) << text;
    auto quoted = credentials::parse_file_field("a.\"b.c\".d");
    ASSERT_TRUE(quoted);
    EXPECT_EQ(quoted->keys, (std::vector<std::string>{"a", "b.c", "d"}));
    EXPECT_TRUE(credentials::parse_file_field("a.\"b")->keys.empty());
}

TEST(FileField, OfEveryPresetIsReadable) {
    for (const std::string& name : credentials::preset_names()) {
        auto credential = credentials::make_credential(name, *credentials::preset_values(name), {});
        ASSERT_TRUE(credential) << credential.error().line();
        for (const std::string& file : credential->files) EXPECT_TRUE(file.starts_with("~/.")) << file;
    }
}

}  // namespace
