// SPDX-License-Identifier: MIT
#include "credentials/shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace credentials {
namespace {

RandomBytes seeded(unsigned seed) {
    return [random = std::mt19937(seed)](std::span<uint8_t> bytes) mutable {
        for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    };
}

base::SecretValue secret(std::string text) {
    return *base::SecretValue::make(std::move(text));
}

TEST(Shape, MakesPlaceholdersOfTheRightForm) {
    for (std::string_view text : {"ghp_{36}", "sk-ant-api03-{93}AA", "{40}", "AKIA{40:A-Z0-9}",
                                  "x{32:a-f0-9}-{10}", "sk-proj-{74}T3BlbkFJ{74}"}) {
        auto shape = Shape::parse(text);
        ASSERT_TRUE(shape.ok()) << text;
        EXPECT_GE(shape->bits(), kMinimumBits);
        std::string first = shape->make(seeded(1)), second = shape->make(seeded(2));
        EXPECT_NE(first, second);
        EXPECT_TRUE(shape->fits(secret(first))) << first;
        EXPECT_EQ(first.size(), second.size());
    }
    std::string github = Shape::parse("ghp_{36}")->make(seeded(3));
    EXPECT_EQ(github.size(), 40u);
    EXPECT_TRUE(github.starts_with("ghp_"));
}

TEST(Shape, NeedsEnoughRandomBits) {
    EXPECT_FALSE(Shape::parse("glpat-{20}").ok()) << "119 bits";
    EXPECT_TRUE(Shape::parse("glpat-{22}").ok());
    EXPECT_FALSE(Shape::parse("AKIA{16:A-Z0-9}").ok()) << "83 bits";
    EXPECT_TRUE(Shape::parse("AKIA{16:A-Z0-9}", 80).ok()) << "together with a second value";
    EXPECT_FALSE(Shape::parse("token").ok());
    EXPECT_TRUE(Shape::parse("{32:a-f0-9}").ok()) << "128 bits";
    EXPECT_FALSE(Shape::parse("{31:a-f0-9}").ok());
}

TEST(Shape, RefusesWhatIsMalformedOrWouldEndAField) {
    for (std::string_view text :
         {"", "{", "{}", "{0}", "{-1}", "{x}", "{40", "a  b{40}", "a\n{40}", "\"{40}", "{40:}", "{40:a}",
          "{40:z-a}", "{40: -~}", "{99999}", "{4000}{4000}", "a}{40:A-Z\n}", "JWT"})
        EXPECT_FALSE(Shape::parse(text).ok()) << text;
}

TEST(Shape, MayHaveTwoParts) {
    auto shape = Shape::parse("AKIA{16:A-Z0-9} {40}");
    ASSERT_TRUE(shape.ok());
    EXPECT_TRUE(shape->is_pair());
    RandomBytes zeros = [](std::span<uint8_t> bytes) { std::ranges::fill(bytes, uint8_t{0}); };
    EXPECT_EQ(shape->make(zeros), "AKIAAAAAAAAAAAAAAAAA " + std::string(40, 'A'));
    EXPECT_FALSE(Shape::parse("{40}")->is_pair());
    for (const char* bad : {" {40}", "{40} ", "{40} {40} {40}", "{40:A- }"})
        EXPECT_FALSE(Shape::parse(bad).ok()) << bad;
}

TEST(Shape, ChoosesEachCharacterAlikeOften) {
    auto shape = Shape::parse("{4000:a-f0-9_-}");
    ASSERT_TRUE(shape.ok());
    std::map<char, int> counts;
    for (unsigned seed = 0; seed < 20; ++seed) {
        for (char letter : shape->make(seeded(seed))) ++counts[letter];
    }
    EXPECT_EQ(counts.size(), 18u);
    for (const auto& [letter, count] : counts) EXPECT_NEAR(count, 80000 / 18, 450) << letter;
}

TEST(Shape, FitsRealValues) {
    auto shape = Shape::parse("sk-ant-api03-{10}{20}AA");
    EXPECT_TRUE(shape->fits(secret("sk-ant-api03-" + std::string(28, 'x') + "_-AA")));
    EXPECT_FALSE(shape->fits(secret("sk-ant-api03-" + std::string(29, 'x') + "AA")));
    EXPECT_FALSE(shape->fits(secret("sk-ant-api03-" + std::string(30, 'x') + "AB")));
    EXPECT_FALSE(shape->fits(secret("sk-ant-api04-" + std::string(30, 'x') + "AA")));
    EXPECT_FALSE(Shape::parse("{32:a-f0-9}")->fits(secret(std::string(31, 'a') + "_")));
}

TEST(JwtPlaceholder, KeepsHeaderAndClaimsAndReplacesTheSignature) {
    std::string token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    auto made = make_jwt_placeholder(secret(token), seeded(1));
    ASSERT_TRUE(made.ok());
    EXPECT_TRUE(made->starts_with("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9."));
    EXPECT_EQ(made->size(), token.size());
    EXPECT_EQ(made->find("dBjftJeZ4"), std::string::npos);
    EXPECT_NE(*made, *make_jwt_placeholder(secret(token), seeded(2)));
    EXPECT_TRUE(Shape::parse("jwt")->fits(secret(token)));
    for (const char* text :
         {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.short",
          "one.twothree", ".two.dBjftJeZ4CVP-mB92K27uhbUJU1p1r", "a.b.c.dBjftJeZ4CVP-mB92K27uhbUJU1p1r",
          "a b.c.dBjftJeZ4CVP-mB92K27uhbUJU1p1r", "ghp_0123456789012345678901234567890123456"}) {
        auto refused = make_jwt_placeholder(secret(text), seeded(1));
        ASSERT_FALSE(refused.ok()) << text;
        EXPECT_EQ(refused.error().line().find("dBjft"), std::string::npos)
            << "no part of a value in a message";
    }
}

}  // namespace
}  // namespace credentials
