// SPDX-License-Identifier: MIT
#include "base/text.h"

#include <gtest/gtest.h>

#include "base/path.h"

namespace base {
namespace {

TEST(Format, PutsEachArgumentInItsPlace) {
    std::string key = "home.access";
    EXPECT_EQ(format("{}:{}: '{}' is written twice", std::string_view("a.toml"), 12, key),
              "a.toml:12: 'home.access' is written twice");
    EXPECT_EQ(format("{}{}", "no ", "words between"), "no words between");
    EXPECT_EQ(format("{} = {{ {} }}", "env.set", 'x'), "env.set = { x }");
    EXPECT_EQ(format("{}", Path::known("/home/me")), "/home/me");
}

TEST(Format, WritesNumbersOfEverySize) {
    EXPECT_EQ(format("{} {}", INT64_MIN, UINT64_MAX), "-9223372036854775808 18446744073709551615");
    EXPECT_EQ(format("{} {} {}", size_t{7}, uint8_t{65}, short{-1}), "7 65 -1");
}

// An argument is never read as a format.
TEST(Format, LeavesBracesOfArgumentsAlone) {
    EXPECT_EQ(format("'{}'", "{} {0} }{"), "'{} {0} }{'");
    EXPECT_EQ(format("'{}'", std::string_view("a\0b", 3)), std::string("'a\0b'", 5));
}

using Parts = std::vector<std::string_view>;

TEST(Split, KeepsEmptyParts) {
    EXPECT_EQ(split("a:b:c", ':'), (Parts{"a", "b", "c"}));
    EXPECT_EQ(split("a::c", ':'), (Parts{"a", "", "c"}));
    EXPECT_EQ(split("", ':'), (Parts{""}));
    EXPECT_EQ(split("a:", ':'), (Parts{"a", ""}));
}

TEST(Trim, TakesBlanksFromBothEnds) {
    EXPECT_EQ(trim(" \t a b\r\n"), "a b");
    EXPECT_EQ(trim("  \n"), "");
    EXPECT_EQ(trim(""), "");
}

TEST(Join, PutsTheSeparatorBetweenAllParts) {
    EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
    EXPECT_EQ(join({}, ","), "");
    EXPECT_EQ(join({"", "a", ""}, ","), ",a,") << "empty parts count";
}

TEST(Printable, LeavesPlainTextAlone) {
    EXPECT_EQ(printable("plain /path-1.2_x"), "plain /path-1.2_x");
    EXPECT_EQ(printable("Grüße 你好 🙂"), "Grüße 你好 🙂");
}

TEST(Printable, ShowsControlCharacters) {
    EXPECT_EQ(printable("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
    EXPECT_EQ(printable("a\nb\tc\rd"), "a\\x0ab\\x09c\\x0dd");
    EXPECT_EQ(printable(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "\\xc2\\x9b31m")
        << "CSI as one C1 character";
}

TEST(Printable, ShowsWhatReordersOrHides) {
    EXPECT_EQ(printable("\u202egpj.exe"), "\\xe2\\x80\\xaegpj.exe");
    EXPECT_EQ(printable("a\u200bb"), "a\\xe2\\x80\\x8bb");
    EXPECT_EQ(printable("\u2066x"), "\\xe2\\x81\\xa6x");
    EXPECT_EQ(printable("\u061cx"), "\\xd8\\x9cx");
    EXPECT_EQ(printable("\U000e0041"), "\\xf3\\xa0\\x81\\x81") << "an invisible tag";
}

TEST(Printable, ShowsBytesThatAreNotUtf8) {
    EXPECT_EQ(printable("a\xff"), "a\\xff");
    EXPECT_EQ(printable("\xc3"), "\\xc3") << "cut short";
    EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
    EXPECT_EQ(printable("\xe2\x28\xa1"), "\\xe2(\\xa1") << "resumes at the next byte";
}

TEST(IsValidUtf8, RefusesWhatTheStandardRefuses) {
    EXPECT_TRUE(is_valid_utf8(""));
    EXPECT_TRUE(is_valid_utf8("\u00e9\u4f60\U0001f642"));
    EXPECT_TRUE(is_valid_utf8("\xf4\x8f\xbf\xbf")) << "the last code point";
    EXPECT_FALSE(is_valid_utf8("\xf4\x90\x80\x80")) << "behind the last code point";
    EXPECT_FALSE(is_valid_utf8("\xf5\x80\x80\x80"));
    EXPECT_FALSE(is_valid_utf8("\x80"));
    EXPECT_FALSE(is_valid_utf8("\xe0\x80\x80")) << "overlong";
}

TEST(ShellWord, QuotesOnlyWhereNeeded) {
    EXPECT_EQ(shell_word("/usr/bin/bwrap"), "/usr/bin/bwrap");
    EXPECT_EQ(shell_word("--x=1,2"), "--x=1,2");
    EXPECT_EQ(shell_word(""), "''");
    EXPECT_EQ(shell_word("a b"), "'a b'");
    EXPECT_EQ(shell_word("$(rm)"), "'$(rm)'");
    EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_word("~ann"), "'~ann'");
}

TEST(Nearest, FindsTheWordThatWasMeant) {
    constexpr std::string_view kWords[] = {"isolation.backend", "network.mode", "home.access"};
    EXPECT_EQ(nearest("network.mod", kWords), "network.mode");
    EXPECT_EQ(nearest("hom.acces", kWords), "home.access");
    EXPECT_EQ(nearest("xyz", kWords), "");
}

TEST(FirstCodePoint, ReadsOneCharacterAndItsLength) {
    EXPECT_EQ(first_code_point("ab").value, 0x61u);
    EXPECT_EQ(first_code_point("üx").value, 0xfcu);
    EXPECT_EQ(first_code_point("üx").length, 2u);
    EXPECT_EQ(first_code_point("🙂").value, 0x1f642u);
    for (std::string_view broken : {"", "\xc3", "\x80", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80"}) {
        EXPECT_EQ(first_code_point(broken).length, 0u);
    }
}

TEST(UtcStamp, SortsAsTheMomentsDo) {
    EXPECT_EQ(utc_stamp(0), "19700101T000000Z");
    EXPECT_EQ(utc_stamp(1'709'251'199), "20240229T235959Z");
}

}  // namespace
}  // namespace base
