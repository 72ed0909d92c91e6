// SPDX-License-Identifier: MIT
#include "base/path.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace base {
namespace {

TEST(MatchesName, StarAndQuestionMark) {
    EXPECT_TRUE(matches_name("AWS_*", "AWS_SECRET_ACCESS_KEY"));
    EXPECT_TRUE(matches_name("AWS_*", "AWS_"));
    EXPECT_FALSE(matches_name("AWS_*", "AWS"));
    EXPECT_TRUE(matches_name("*_TOKEN", "GITHUB_TOKEN"));
    EXPECT_FALSE(matches_name("*_TOKEN", "GITHUB_TOKENS"));
    EXPECT_TRUE(matches_name("*KEY*", "API_KEY_2"));
    EXPECT_TRUE(matches_name("A?C", "ABC"));
    EXPECT_FALSE(matches_name("A?C", "AC"));
    EXPECT_TRUE(matches_name("a*b*c", "a/b/b/c")) << "a slash is nothing special in a name";
    EXPECT_TRUE(matches_name("", ""));
    EXPECT_FALSE(matches_name("", "a"));
    EXPECT_TRUE(matches_name("**", "anything"));
}

TEST(MatchesName, BracketsAreLetters) {
    EXPECT_TRUE(matches_name("a[b]", "a[b]"));
    EXPECT_FALSE(matches_name("a[b]", "ab"));
}

TEST(MatchesName, CaseCountsUnlessToldOtherwise) {
    EXPECT_FALSE(matches_name("*password*", "MyPassword"));
    EXPECT_TRUE(matches_name("*password*", "MyPASSWORDs", true));
    EXPECT_TRUE(matches_name("*PassWord*", "mypasswords", true));
}

TEST(MatchesName, ManyStarsStayFast) {
    std::string pattern, name(5000, 'a');
    for (int i = 0; i < 50; ++i) pattern += "a*";
    EXPECT_FALSE(matches_name(pattern + "b", name));
}

TEST(MatchesPath, SingleStarStopsAtASlash) {
    EXPECT_TRUE(matches_path("/home/*/code", "/home/ann/code"));
    EXPECT_FALSE(matches_path("/home/*/code", "/home/ann/x/code"));
    EXPECT_TRUE(matches_path("/dev/nvidia*", "/dev/nvidia0"));
    EXPECT_FALSE(matches_path("/dev/nvidia*", "/dev/nvidia-caps/cap1"));
    EXPECT_FALSE(matches_path("/a?b", "/a/b"));
    EXPECT_TRUE(matches_path("*", ""));
}

TEST(MatchesPath, DoubleStarCrossesSlashes) {
    EXPECT_TRUE(matches_path("/data/**", "/data/a/b/c"));
    EXPECT_TRUE(matches_path("/data/**", "/data")) << "the directory itself";
    EXPECT_FALSE(matches_path("/data/**", "/database"));
    EXPECT_TRUE(matches_path("/data/**/x", "/data/a/b/x"));
    EXPECT_TRUE(matches_path("/data/**/x", "/data/x"));
    EXPECT_FALSE(matches_path("/data/**/x", "/data/ax"));
    EXPECT_TRUE(matches_path("**/.env", ".env"));
    EXPECT_TRUE(matches_path("**/.env", "packages/api/.env"));
    EXPECT_FALSE(matches_path("**/.env", "packages/not.env"));
    EXPECT_TRUE(matches_path("/a**z", "/abc/xyz"));
}

// "/**", once or repeated.
bool is_everything_below(std::string_view rest) {
    while (rest.starts_with("/**")) rest.remove_prefix(3);
    return rest.empty();
}

// The definition of a match, implemented directly and without optimization.
bool by_definition(std::string_view pattern, size_t p, std::string_view path, size_t n) {
    std::string_view rest = pattern.substr(p);
    if (rest.empty()) return n == path.size();
    if (n == path.size() && is_everything_below(rest)) return true;
    bool starts_component = p == 0 || pattern[p - 1] == '/';
    if (rest.starts_with("**/") && starts_component) {
        if (by_definition(pattern, p + 3, path, n)) return true;
        size_t slash = path.find('/', n);
        return slash != std::string_view::npos && by_definition(pattern, p, path, slash + 1);
    }
    if (rest.starts_with("**")) {
        return by_definition(pattern, p + 2, path, n) ||
               (n < path.size() && by_definition(pattern, p, path, n + 1));
    }
    bool has_letter = n < path.size() && path[n] != '/';
    if (rest[0] == '*') {
        return by_definition(pattern, p + 1, path, n) ||
               (has_letter && by_definition(pattern, p, path, n + 1));
    }
    bool is_match = n < path.size() && (rest[0] == path[n] || (rest[0] == '?' && has_letter));
    return is_match && by_definition(pattern, p + 1, path, n + 1);
}

std::string random_text(std::mt19937& random, std::string_view letters, size_t longest) {
    std::string text(random() % (longest + 1), ' ');
    for (char& letter : text) letter = letters[random() % letters.size()];
    return text;
}

TEST(MatchesPath, AgreesWithTheDefinitionOnRandomPatterns) {
    std::mt19937 random(20240817);
    int matches = 0;
    for (int round = 0; round < 200'000; ++round) {
        std::string pattern = random_text(random, "ab//***?", 9);
        std::string path = random_text(random, "ab/", 9);
        bool expected = by_definition(pattern, 0, path, 0);
        matches += expected;
        ASSERT_EQ(matches_path(pattern, path), expected)
            << "pattern '" << pattern << "', path '" << path << "'";
    }
    EXPECT_GT(matches, 1000) << "the letters are chosen so that many match";
}

TEST(HasWildcard, KnowsStarAndQuestionMark) {
    EXPECT_TRUE(has_wildcard("/dev/nvidia*"));
    EXPECT_TRUE(has_wildcard("a?"));
    EXPECT_FALSE(has_wildcard("/dev/[ab]"));
}

}  // namespace
}  // namespace base
