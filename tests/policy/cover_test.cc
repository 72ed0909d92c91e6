// SPDX-License-Identifier: MIT
#include "policy/entry_match.h"

#include <gtest/gtest.h>

namespace {

using policy::covers_rule;
using policy::matches_variable_pattern;

TEST(CoversRule, HostCoversItsPortsAndItself) {
    EXPECT_TRUE(covers_rule("example.org", "example.org"));
    EXPECT_TRUE(covers_rule("example.org", "example.org:443"));
    EXPECT_FALSE(covers_rule("example.org:443", "example.org"));
    EXPECT_FALSE(covers_rule("example.org:443", "example.org:80"));
    EXPECT_FALSE(covers_rule("example.org", "sub.example.org"));
}

TEST(CoversRule, SpellingsOfANameAreOne) {
    EXPECT_TRUE(covers_rule("Example.ORG", "example.org."));
    EXPECT_TRUE(covers_rule("example.org", "EXAMPLE.org..:443"));
}

TEST(CoversRule, WildcardCoversSubdomainsButNotTheApexNorLookalikes) {
    EXPECT_TRUE(covers_rule("*.example.org", "a.b.example.org"));
    EXPECT_TRUE(covers_rule("*.example.org", "*.a.example.org"));
    EXPECT_TRUE(covers_rule("*.example.org", "*.example.org"));
    EXPECT_FALSE(covers_rule("*.example.org", "example.org"));
    EXPECT_FALSE(covers_rule("*.example.org", "badexample.org"));
    EXPECT_FALSE(covers_rule("*.a.example.org", "*.example.org"));
}

TEST(CoversRule, NetworksContainNarrowerOnes) {
    EXPECT_TRUE(covers_rule("10.0.0.0/8", "10.1.2.3"));
    EXPECT_TRUE(covers_rule("10.0.0.0/8", "10.1.0.0/16:22"));
    EXPECT_FALSE(covers_rule("10.1.0.0/16", "10.0.0.0/8"));
    EXPECT_TRUE(covers_rule("2001:db8::/32", "[2001:db8::1]:443"));
    EXPECT_FALSE(covers_rule("10.0.0.0/8", "2001:db8::1"));
}

TEST(CoversRule, StarAndBarePortsAreAboutEveryHost) {
    EXPECT_TRUE(covers_rule("*", "anything.example:22"));
    EXPECT_TRUE(covers_rule("443", "example.org:443"));
    EXPECT_TRUE(covers_rule("8000-8100", "8080"));
    EXPECT_FALSE(covers_rule("443", "example.org"));
}

TEST(CoversRule, RawIsAPartOfTcp) {
    EXPECT_TRUE(covers_rule("raw:*", "raw:example.org:443"));
    EXPECT_TRUE(covers_rule("raw:443", "raw:example.org:443"));
    EXPECT_TRUE(covers_rule("example.org", "raw:example.org:443"));
    EXPECT_FALSE(covers_rule("raw:*", "example.org:443"));
    EXPECT_FALSE(covers_rule("udp:*", "raw:example.org:443"));
}

TEST(VariablePattern, CaseMattersUnlessThePatternSaysOtherwise) {
    EXPECT_TRUE(matches_variable_pattern("*_TOKEN", "GITHUB_TOKEN"));
    EXPECT_FALSE(matches_variable_pattern("*_TOKEN", "github_token"));
    EXPECT_TRUE(matches_variable_pattern("*password*/i", "MyPassWordFile"));
    EXPECT_FALSE(matches_variable_pattern("*_PWD", "PWD"));
}

}  // namespace
