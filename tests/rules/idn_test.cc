// SPDX-License-Identifier: MIT
#include "rules/names/idn.h"

#include <gtest/gtest.h>

namespace network {
namespace {

struct Pair {
    std::string_view text;
    std::string_view a_label;
};

constexpr Pair kPairs[] = {
    {"bücher", "xn--bcher-kva"},   {"münchen", "xn--mnchen-3ya"},
    {"faß", "xn--fa-hia"},         {"ü", "xn--tda"},
    {"пример", "xn--e1afmkfd"},    {"παράδειγμα", "xn--hxajbheg2az3al"},
    {"例え", "xn--r8jz45g"},       {"测试", "xn--0zwm56d"},
    {"한국", "xn--3e0b707e"},      {"łódź", "xn--d-uga0v4h"},
    {"pražák", "xn--prak-7na55g"}, {"امارات", "xn--mgbaam7a8h"},
    {"ไทย", "xn--o3cw4h"},         {"ישראל", "xn--4dbrk0ce"},
    {"भारत", "xn--h2brj9c"},       {"abc測試", "xn--abc-1x5gk81j"},
};

TEST(Idn, EncodesAsRegistriesDo) {
    for (const Pair& pair : kPairs) {
        auto encoded = a_label_of(pair.text);
        ASSERT_TRUE(encoded.ok()) << pair.text << ": " << encoded.error().line();
        EXPECT_EQ(*encoded, pair.a_label) << pair.text;
    }
}

TEST(Idn, AcceptsItsOwnLabelsAsGenuine) {
    for (const Pair& pair : kPairs) EXPECT_TRUE(is_genuine_a_label(pair.a_label)) << pair.a_label;
    EXPECT_TRUE(is_genuine_a_label("xn--i-n3p")) << "a heart, which a rule could only name by its A-label";
}

TEST(Idn, RefusesLabelsThatNoTextEncodesTo) {
    for (std::string_view label : {"xn--", "xn--github-", "xn--a-", "xn--99999999", "xn--999999999999",
                                   "xn--bcher-kv", "xn--bcher-k_a", "abc"}) {
        EXPECT_FALSE(is_genuine_a_label(label)) << label;
    }
}

TEST(Idn, MapsNothing) {
    for (std::string_view label : {"BÜCHER", "büCHER\xc3\x9c", "Пример", "u\xcc\x88", "ａｂｃ", "ﬁx",
                                   "a\xe2\x80\x8d"
                                   "b",
                                   "a\xc2\xad"
                                   "b",
                                   "a\xe3\x80\x82"
                                   "b",
                                   "😀", "\xff"}) {
        EXPECT_FALSE(a_label_of(label).ok()) << label;
    }
}

TEST(Idn, RefusesAlphabetsThatLookAlikeInOneLabel) {
    EXPECT_FALSE(a_label_of("gіthub").ok()) << "a Cyrillic і";
    EXPECT_FALSE(a_label_of("οpenai").ok()) << "a Greek ο";
    EXPECT_TRUE(a_label_of("тест-1").ok()) << "digits and hyphens belong to all";
}

}  // namespace
}  // namespace network
