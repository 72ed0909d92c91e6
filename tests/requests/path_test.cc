// SPDX-License-Identifier: MIT
#include "network/requests/path.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace network::requests {
namespace {

// Segments between bars, or the fault.
std::string read(std::string_view target) {
    CanonicalPath path;
    std::string_view fault = read_target(target, path);
    return fault.empty() ? base::join(path.segments, "|") : "fault: " + std::string(fault);
}

bool matches(std::string_view pattern, std::string_view target, bool any_spelling = false) {
    auto parsed = PathPattern::parse(pattern);
    EXPECT_TRUE(parsed.ok()) << pattern;
    CanonicalPath path;
    EXPECT_EQ(read_target(target, path), "") << target;
    return any_spelling ? parsed->matches_any_spelling(path) : parsed->matches(path.segments);
}

TEST(CanonicalPath, DecodesEachSegmentOnce) {
    EXPECT_EQ(read("/"), "");
    EXPECT_EQ(read("/repos/me/app"), "repos|me|app");
    EXPECT_EQ(read("/repos/me/app/"), "repos|me|app");
    EXPECT_EQ(read("/repos?path=/../x"), "repos");
    EXPECT_EQ(read("/%72epos/%6De"), "repos|me");
    EXPECT_EQ(read("/@scope%2fname"), "@scope%2fname");
    EXPECT_EQ(read("/group%2Fproject"), "group%2fproject");
    EXPECT_EQ(read("/100%25"), "100%25");
    EXPECT_EQ(read("/caf%C3%A9"), "café");
    EXPECT_EQ(read("/a.b/...c/..d"), "a.b|...c|..d");
}

TEST(CanonicalPath, KeepsPathAndQueryAsSent) {
    CanonicalPath path;
    EXPECT_EQ(read_target("/%72epos/x?a=%2e%2e", path), "");
    EXPECT_EQ(path.path, "/%72epos/x");
    EXPECT_EQ(path.query, "a=%2e%2e");
}

TEST(CanonicalPath, RefusesEverySpellingThatServersReadInDifferentWays) {
    using namespace std::string_literals;
    for (const std::string& target :
         {""s,          "*"s,         "repos"s,     "//"s,         "/a//b"s,     "/a//"s,
          "/./a"s,      "/a/."s,      "/a/.."s,     "/../a"s,      "/%2e/a"s,    "/a/%2E%2e/b"s,
          "/a/.%2e/b"s, "/a/%00"s,    "/a/%0a"s,    "/a/%0D%0Ab"s, "/a/\x01"s,   "/a\tb"s,
          "/a/\x7f"s,   "/a/%7f"s,    "/a\\b"s,     "/a%5cb"s,     "/a%5Cb"s,    "/caf\xc3\xa9"s,
          "/%"s,        "/a%2"s,      "/a%zz"s,     "/a%2g"s,      "/a/%252e"s,  "/a/%252f"s,
          "/a/%2567"s,  "/a/..;/b"s,  "/a/..;x=1"s, "/a/.;/b"s,    "/a/;x=1/b"s, "/%c0%ae%c0%ae/"s,
          "/a/%e9"s,    "/a/%c0%af"s, "/a\0b"s,     "/a/%+1"s,     "/a/%-1"s,    "/a/%2e%2e;x"s}) {
        EXPECT_TRUE(read(target).starts_with("fault: ")) << base::printable(target) << ": " << read(target);
    }
}

TEST(CanonicalPath, RefusesPiecesBetweenCodedSlashesThatAreEmptyOrDots) {
    for (const char* target :
         {"/public/..%2Fprivate/x", "/a%2f..", "/a%2F..%2fb", "/.%2fa", "/%2fa", "/a%2f", "/graphql%2F",
          "/a%2f%2fb", "/a/%2F", "/%2e%2e%2fa", "/a%2f%2e/b", "/a%2f..;x", "/a;x%2f..%2fb", "/a%2f;x%2fb"})
        EXPECT_TRUE(read(target).starts_with("fault: ")) << target << ": " << read(target);
    EXPECT_EQ(read("/a%2fb%2Fc/..d%2fe.."), "a%2fb%2fc|..d%2fe..");
    std::string many = "/a";
    for (size_t i = 1; i < kMaximumSegments; ++i) many += "%2fa";
    EXPECT_FALSE(read(many).starts_with("fault"));
    EXPECT_TRUE(read(many + "%2fa").starts_with("fault"));
}

TEST(CanonicalPath, RefusesACodeThatDecodesToAnotherCode) {
    for (const char* target : {"/a/%25%32e%25%32e", "/%252%65", "/%25%32%65", "/%25%32%46", "/%25%35c",
                               "/%25%2532e", "/%25%25%33%32e", "/x%25%34%31y"})
        EXPECT_EQ(read(target), "fault: the path is percent-encoded twice") << target;
    EXPECT_EQ(read("/100%25%25"), "100%25%25");
    EXPECT_EQ(read("/%25%20x%25g1"), "%25 x%25g1");
}

TEST(CanonicalPath, HasABoundedNumberOfSegments) {
    std::string path;
    for (size_t i = 0; i < kMaximumSegments; ++i) path += "/a";
    EXPECT_FALSE(read(path).starts_with("fault"));
    EXPECT_TRUE(read(path + "/a").starts_with("fault"));
}

TEST(PathPattern, StarMatchesWithinOneSegmentAndTwoStarsAnyDepth) {
    EXPECT_TRUE(matches("/repos/*/app", "/repos/me/app"));
    EXPECT_FALSE(matches("/repos/*/app", "/repos/me/you/app"));
    EXPECT_FALSE(matches("/repos/*", "/repos"));
    EXPECT_TRUE(matches("/repos/**", "/repos"));
    EXPECT_TRUE(matches("/repos/**", "/repos/a/b/c"));
    EXPECT_FALSE(matches("/repos/**", "/reposx"));
    EXPECT_TRUE(matches("/**", "/"));
    EXPECT_TRUE(matches("/**/hooks/**", "/repos/me/app/hooks/7"));
    EXPECT_TRUE(matches("/**/hooks", "/hooks"));
    EXPECT_FALSE(matches("/**/hooks", "/hooks/7"));
    EXPECT_TRUE(matches("/**/a/**/a", "/a/b/a/a"));
    EXPECT_FALSE(matches("/**/a/**/b", "/a/b/a"));
    EXPECT_TRUE(matches("/v*/x-*-y", "/v1/x-1-2-y"));
    EXPECT_FALSE(matches("/v*/x-*-y", "/v1/x-y"));
    EXPECT_TRUE(matches("/a*b*c", "/abbc"));
    EXPECT_FALSE(matches("/a*b*c", "/acb"));
    EXPECT_TRUE(matches("/simple/*", "/simple/numpy/")) << "a slash at the end adds no segment";
}

TEST(PathPattern, MatchesTheDecodedPath) {
    EXPECT_TRUE(matches("/gists", "/%67ists"));
    EXPECT_TRUE(matches("/%67ists", "/gists"));
    EXPECT_TRUE(matches("/a*", "/%61b"));
    EXPECT_TRUE(matches("/%2A", "/*")) << "a coded star is a letter";
    EXPECT_FALSE(matches("/%2A", "/x"));
}

TEST(PathPattern, MatchesACodedSlashOnlyIfItSpellsIt) {
    EXPECT_TRUE(matches("/projects/group%2Fproject", "/projects/group%2fproject"));
    EXPECT_FALSE(matches("/projects/group/project", "/projects/group%2fproject"));
    EXPECT_FALSE(matches("/projects/group%2Fproject", "/projects/group/project"));
    EXPECT_TRUE(matches("/@scope%2f*", "/@scope%2Fname"));
    EXPECT_FALSE(matches("/a/*", "/a%2fb"));
    EXPECT_FALSE(matches("/repos/*", "/repos/x%2Fkeys"));
    EXPECT_FALSE(matches("/repos/x*", "/repos/x%2Fkeys"));
    EXPECT_FALSE(matches("/repos/**", "/repos/x%2Fkeys"));
    EXPECT_FALSE(matches("/**", "/a/b%2fc/d"));
    EXPECT_FALSE(matches("/*/a%2fb", "/x%2fy/a%2fb")) << "another segment spells it";
    EXPECT_TRUE(matches("/repos/*%2F*", "/repos/x%2fkeys"));
    EXPECT_TRUE(matches("/projects/*%2f*/**", "/projects/a%2fb%2fc/files/src%2fx")) << "the entry spells it";
    EXPECT_TRUE(matches("/**/*%2f*/**", "/a%2fb"));
    EXPECT_TRUE(matches("/**/*%2f*/**", "/x/y/a%2Fb/z"));
    EXPECT_FALSE(matches("/**/*%2f*/**", "/x/y/z"));
}

TEST(PathPattern, OfAnyNameWithACodedSlashIsLessSpecificThanEveryPath) {
    auto any = PathPattern::parse("/**/*%2f*/**"), scoped = PathPattern::parse("/@*%2f*");
    ASSERT_TRUE(any.ok() && scoped.ok());
    EXPECT_EQ(any->stars(), 0);
    EXPECT_EQ(any->depths(), 3);
    EXPECT_EQ(scoped->stars(), 1);
}

TEST(PathPattern, OfAnEntryThatRefusesMatchesAnySpelling) {
    EXPECT_TRUE(matches("/gists/**", "/Gists", true));
    EXPECT_TRUE(matches("/repos/me/app/keys", "/repos/ME/App/keys", true));
    EXPECT_TRUE(matches("/gists", "/gists;jsessionid=1", true));
    EXPECT_TRUE(matches("/gists", "/g%69sts%3Bx", true));
    EXPECT_TRUE(matches("/a;v=1", "/a;V=1", true));
    EXPECT_FALSE(matches("/gists", "/Gists")) << "an entry that permits does not";
    EXPECT_FALSE(matches("/gists", "/gists;x"));
}

TEST(PathPattern, OfAnEntryThatRefusesTakesACodedSlashAndASlashAsOne) {
    EXPECT_TRUE(matches("/admin/**", "/admin%2Fx", true));
    EXPECT_TRUE(matches("/admin/x", "/Admin%2fX", true));
    EXPECT_TRUE(matches("/a/*/c", "/a/b%2Fc", true));
    EXPECT_TRUE(matches("/a/*", "/a/b%2Fc", true)) << "as one segment";
    EXPECT_TRUE(matches("/a/b", "/a;x%2fb", true));
    EXPECT_TRUE(matches("/a/b", "/a%2Fb;x%2fc", true)) << "parameters may be stripped first";
    EXPECT_TRUE(matches("/a%2fb", "/a/b", true));
    EXPECT_TRUE(matches("/**/@*%2f*", "/x/@scope/name", true));
    EXPECT_TRUE(matches("/a%2fb", "/a%2Fb", true));
    EXPECT_FALSE(matches("/@*%2f*", "/@scope", true));
    EXPECT_FALSE(matches("/admin/**", "/administer%2Fx", true));
    EXPECT_FALSE(matches("/a/b", "/a%2fb")) << "an entry that permits does not";
}

TEST(PathPattern, RefusesWhatCanNeverMatch) {
    for (std::string_view text :
         {"", "a", "/a//b", "/a/../b", "/./a", "/a?b", "/a b", "/a***", "/a**", "/**b", "/%", "/%2e%2e",
          "/a\\b", "/a#b", "/%252f", "/%25%32f", "/a%2f..", "/a%2f", "/%2fa/b"}) {
        auto pattern = PathPattern::parse(text);
        EXPECT_FALSE(pattern.ok()) << text;
        if (pattern) continue;
        EXPECT_NE(pattern.error().line().find("is not a path of a request"), std::string::npos);
    }
}

TEST(PathPattern, TakesBoundedTime) {
    std::string pattern, path;
    for (int i = 0; i < 60; ++i) pattern += "/**/a*a*a*a";
    for (int i = 0; i < 250; ++i) path += "/aaaaaaaaaaab";
    EXPECT_FALSE(matches(pattern, path));
}

}  // namespace
}  // namespace network::requests
