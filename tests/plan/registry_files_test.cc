// SPDX-License-Identifier: MIT
#include "plan/home/registry_files.h"

#include <gtest/gtest.h>

#include "plan/case.h"
#include "plan/home/secret_lines.h"

namespace {

using plan::is_plain_url;
using plan::maven_settings;
using plan::npm_settings;

TEST(RegistryUrl, IsPlainWithoutUserQueryVariableOrToken) {
    for (const char* url :
         {"https://npm.example.org/", "http://mirror.example.org:8081/repository/npm-group/",
          "https://registry.example.org", "https://artifactory.example.org/api/npm/all/"}) {
        EXPECT_TRUE(is_plain_url(url)) << url;
    }
    for (const char* url :
         {"https://ann:secret@npm.example.org/", "https://token@npm.example.org/",
          "https://ann:%40x@npm.example.org/", "https://npm.example.org/?token=x",
          "https://npm.example.org/#x", "https://${NPM_TOKEN}@npm.example.org/",
          "https://npm.example.org/${NPM_TOKEN}/", "https://conda.example.org/t/ab-1234/main",
          "https://npm.example.org/0123456789abcdef0123456789abcdef/npm/", "ftp://npm.example.org/",
          "//npm.example.org/", "https:///npm", "https://npm.example.org/ x", "https://npm.example.org/\\@x",
          "", "HTTPS://ann:secret@npm.example.org",
          "https://npm.example.org/ghp_0123456789abcdefghijklmnopqrstuvwx/"}) {
        EXPECT_FALSE(is_plain_url(url)) << url;
    }
}

TEST(Npm, KeepsRegistriesAndHabits) {
    EXPECT_EQ(
        npm_settings("registry = https://npm.example.org/\n@lab:registry=\"https://npm.example.org/lab/\"\r\n"
                     "strict-ssl=false\nsave-exact=true\n"),
        "registry=https://npm.example.org/\n@lab:registry=https://npm.example.org/lab/\n"
        "strict-ssl=false\nsave-exact=true\n");
}

TEST(Npm, LeavesOutEverySpellingOfASecret) {
    for (const char* line : {"//npm.example.org/:_authToken=SECRET",
                             "_auth=SECRET",
                             "_authToken = SECRET",
                             "\"_authToken\"=SECRET",
                             "//npm.example.org/:_password=SECRET",
                             "//npm.example.org/:username=SECRET",
                             "email=SECRET@example.org",
                             "_AUTHTOKEN=SECRET",
                             "registry=https://ann:SECRET@npm.example.org/",
                             "registry=https://SECRET@npm.example.org/",
                             "@lab:registry=https://npm.example.org/?t=SECRET",
                             "; _authToken=SECRET",
                             "# registry=https://SECRET.example",
                             "[section]\nregistry=https://SECRET.example.org/",
                             "registry[]=SECRET",
                             "otp=SECRET",
                             "key=SECRET",
                             "cert=SECRET",
                             "proxy=http://ann:SECRET@proxy.example.org",
                             "https-proxy=http://SECRET@proxy",
                             "//x/:tokenHelper=/SECRET",
                             "cafile=https://ann:SECRET@x",
                             "\xEF\xBB\xBF_authToken=SECRET",
                             "registry=https://npm.example.org/\v_authToken=SECRET",
                             "@lab registry=https://npm.example.org/SECRET",
                             "strict-ssl=false;_authToken=SECRET$",
                             "init-author-email=SECRET",
                             "registry=https://npm.example.org/\\\n_authToken=SECRET",
                             "node-options=SECRET",
                             "script-shell=SECRET"}) {
        EXPECT_EQ(npm_settings(line).find("SECRET"), std::string::npos) << line;
    }
}

TEST(Pip, KeepsIndexesAndHabits) {
    EXPECT_EQ(
        plan::pip_settings("# c\n[global]\nindex-url = https://pypi.example.org/simple\nextra-index-url =\n"
                           "    https://a.example.org/x\n    https://ann:SECRET@b.example.org/y\n"
                           "trusted-host: pypi.example.org\n[install]\nprefer-binary = true\n"),
        "[global]\nindex-url = https://pypi.example.org/simple\nextra-index-url = https://a.example.org/x "
        "https://b.example.org/y\n"
        "trusted-host = pypi.example.org\n[install]\nprefer-binary = true\n");
}

TEST(Pip, KeepsAnIndexWithoutItsLogin) {
    auto index = [](const std::string& url) {
        return plan::pip_settings("[global]\nindex-url = " + url + "\n");
    };
    const std::string kept = "[global]\nindex-url = https://pypi.example.org/simple\n";
    for (const char* login :
         {"ann:SECRET@", "SECRET@", "ann:SE%40CRET@", "a@b:SECRET@", "${USER}:${SECRET}@"})
        EXPECT_EQ(index("https://" + std::string(login) + "pypi.example.org/simple"), kept) << login;
    // A log-in with a slash ends the host too early: nothing is kept.
    EXPECT_EQ(index("https://ann:SEC/RET@pypi.example.org/simple"), "[global]\n");
    EXPECT_EQ(index("https://ann:SECRET@"), "[global]\n");
}

TEST(Pip, LeavesOutEverySpellingOfASecret) {
    for (const char* text :
         {"[global]\nindex-url = https://ann:SECRET@pypi.example.org/",
          "[global]\nindex-url: https://SECRET@pypi.example.org/",
          "[global]\nindex-url =\n\n  https://ann:SECRET@pypi.example.org/",
          "[global]\nclient-cert = /SECRET", "[global]\nproxy = http://ann:SECRET@proxy.example.org:3128",
          "index-url = https://SECRET.example.org/", "[SECRET]\nindex-url = https://pypi.example.org/SECRET",
          "[global]\n; index-url = https://SECRET.example.org",
          "\xEF\xBB\xBF[global]\nindex-url = https://SECRET.example.org",
          "[global]\nINDEX-URL = https://SECRET.example.org",
          "[global]\nindex-url = https://ann:\n  SECRET@pypi.example.org/",
          "[global]\nkeyring-provider = SECRET", "[global]\nindex-url = https://${SECRET}@pypi.example.org/",
          "[global]\npassword = SECRET", "[global]\nindex-url = https://pypi.example.org/t/SECRET/simple",
          "[global]\nunknown = x\n  https://SECRET.example.org"}) {
        EXPECT_EQ(plan::pip_settings(text).find("SECRET"), std::string::npos) << text << "\n"
                                                                              << plan::pip_settings(text);
    }
}

constexpr std::string_view kMaven = R"(<?xml version="1.0"?>
<!-- <password>SECRET</password> -->
<settings xmlns="http://maven.apache.org/SETTINGS/1.0.0">
  <localRepository>/home/ann/SECRET</localRepository>
  <servers><server><id>lab</id><username>SECRET</username><password>{SECRET=}</password></server></servers>
  <mirrors>
    <mirror><id>lab</id><url>https://maven.example.org/repository/all/</url><mirrorOf>*,!other</mirrorOf></mirror>
    <mirror><id>bad</id><url>https://ann:SECRET@maven.example.org/</url><mirrorOf>central</mirrorOf></mirror>
  </mirrors>
  <proxies><proxy><id>p</id><active>true</active><protocol>http</protocol><host>proxy.example.org</host><port>3128</port>
    <username>SECRET</username><password>SECRET</password><nonProxyHosts>*.example.org|localhost</nonProxyHosts></proxy></proxies>
  <profiles><profile><id>lab</id>
    <properties><token>SECRET</token></properties>
    <repositories><repository><id>lab</id><url>https://maven.example.org/lab</url>
      <releases><enabled>true</enabled></releases></repository></repositories></profile></profiles>
  <activeProfiles><activeProfile>lab</activeProfile></activeProfiles>
</settings>
)";

TEST(Maven, KeepsMirrorsProxiesAndRepositoriesAlone) {
    std::optional<std::string> copy = maven_settings(kMaven);
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->find("SECRET"), std::string::npos) << *copy;
    for (const char* part :
         {"<url>https://maven.example.org/repository/all/</url>", "<mirrorOf>*,!other</mirrorOf>",
          "<host>proxy.example.org</host>", "<nonProxyHosts>*.example.org|localhost</nonProxyHosts>",
          "<url>https://maven.example.org/lab</url>", "<enabled>true</enabled>",
          "<activeProfile>lab</activeProfile>"}) {
        EXPECT_NE(copy->find(part), std::string::npos) << part << "\n" << *copy;
    }
    // A mirror without its address would be an error for Maven.
    EXPECT_EQ(copy->find("<id>bad</id>"), std::string::npos);
    EXPECT_EQ(copy->find("<server"), std::string::npos);
    // The copy can be read again.
    EXPECT_TRUE(maven_settings(*copy));
}

TEST(Maven, ShowsNothingOfWhatItCantRead) {
    for (const char* text :
         {"", "plain", "<settings>", "<settings></mirrors>", "<settings></settings><settings></settings>",
          "<!DOCTYPE x [<!ENTITY s SYSTEM \"file:///x\">]><settings></settings>",
          "<settings><![CDATA[<mirrors>]]></settings>", "<settings a=\"></settings>",
          "<settings><a b='>'></a></settings>", "<settings><!-- </settings>", "< settings></settings>"}) {
        EXPECT_FALSE(maven_settings(text)) << text;
    }
}

TEST(Maven, LeavesOutOddSpellings) {
    for (const char* inside : {"<mirrors><mirror><url>https://x.example/&#83;ECRET</url></mirror></mirrors>",
                               "<mirrors><mirror><password>SECRET</password></mirror></mirrors>",
                               "<Servers><password>SECRET</password></Servers>", "<mirrors>SECRET</mirrors>",
                               "<mirrors><mirror>SECRET</mirror></mirrors>", "SECRET",
                               "<offline><password>SECRET</password></offline>",
                               "<x:mirrors><url>https://SECRET/</url></x:mirrors>",
                               "<mirrors><mirror name=\"SECRET\"><id>a</id></mirror></mirrors>",
                               "<offline>${env.SECRET}</offline>",
                               "<servers><mirrors><mirror><id>SECRET</id></mirror></mirrors></servers>"}) {
        std::optional<std::string> copy = maven_settings("<settings>" + std::string(inside) + "</settings>");
        ASSERT_TRUE(copy) << inside;
        EXPECT_EQ(copy->find("SECRET"), std::string::npos) << inside << "\n" << *copy;
    }
}

TEST(RegistryFiles, AreCopiesInAHomeOfTheJailsOwnAndHiddenElsewhere) {
    test::Case example;
    example.tree +=
        "f /home/ann/.npmrc 0600 "
        "registry=https://npm.example.org/\\n//npm.example.org/:_authToken=SECRET\\n\n";
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    const plan::Mount* copy = test::mount_at(*plan, "/home/ann/.npmrc");
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->source, "registry=https://npm.example.org/\n");
    for (const char* user : {"[home]\naccess = \"read\"\n", "[mounts]\nhidden = [\"~/.npmrc\"]\n"}) {
        example.toml = {.user = user};
        plan = test::planned(example);
        ASSERT_TRUE(plan) << plan.error().line();
        EXPECT_EQ(test::access(*plan, "/home/ann/.npmrc"), "hidden") << user;
        copy = test::mount_at(*plan, "/home/ann/.npmrc");
        EXPECT_TRUE(!copy || copy->source.find("registry") == std::string::npos) << user;
    }
}

// pip, conda and cargo: the file itself is shown, without the lines that hold a secret.
TEST(RegistryFiles, OfPipCondaAndCargoLoseTheirSecretLines) {
    const plan::SecretNames names({{"GITHUB_TOKEN", {}}}, {{"*TOKEN*/i", {}}, {"*PASSWORD*/i", {}}});
    struct Line {
        const char *file, *text;
    };
    for (const Line& line :
         {Line{"pip.conf", "index-url = https://ann:SECRET1x@pypi.example.org/simple"},
          Line{"pip.conf", "extra-index-url =\n    https://ann:SECRET1x@pypi.example.org/simple"},
          Line{".condarc", "channels:\n  - https://conda.anaconda.org/t/ab-SECRET12-9f86d081884c7d65/lab"},
          Line{"config.toml", "[registry]\ntoken = \"SECRET1234567890abcdef\""}}) {
        plan::FilteredText copy = plan::without_secret_lines(line.text, line.file, names);
        EXPECT_EQ(copy.text.find("SECRET"), std::string::npos) << line.text << "\n" << copy.text;
    }
}

}  // namespace
