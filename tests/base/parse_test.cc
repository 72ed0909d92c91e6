// SPDX-License-Identifier: MIT
#include "base/parse.h"

#include <gtest/gtest.h>

namespace {

using namespace base;

TEST(ParseNumber, ReadsTheWholeText) {
    EXPECT_EQ(parse_number<int>("42"), 42);
    EXPECT_EQ(parse_number<int>("-42"), -42);
    EXPECT_EQ(parse_number<unsigned>("007"), 7U);
    EXPECT_EQ(parse_number<uint64_t>("ff", 16), 255U);
    EXPECT_EQ(parse_number<uint64_t>("18446744073709551615"), UINT64_MAX);
}

TEST(ParseNumber, RefusesOtherText) {
    for (const char* text : {"", " ", " 1", "1 ", "+1", "1x", "x1", "0x1", "1.0", "--1"})
        EXPECT_FALSE(parse_number<int>(text)) << text;
    EXPECT_FALSE(parse_number<unsigned>("-1"));
    EXPECT_FALSE(parse_number<int>(std::string_view("1\0", 2)));
}

TEST(ParseNumber, RefusesWhatDoesNotFit) {
    EXPECT_EQ(parse_number<uint8_t>("255"), 255);
    EXPECT_FALSE(parse_number<uint8_t>("256"));
    EXPECT_FALSE(parse_number<uint64_t>("18446744073709551616"));
    EXPECT_FALSE(parse_number<int>("99999999999999999999999"));
}

TEST(LeadingNumber, IgnoresTheTextAfterIt) {
    EXPECT_EQ(leading_number<int>("12 (bash) S"), 12);
    EXPECT_EQ(leading_number<int>("022\n", 8), 18);
    EXPECT_FALSE(leading_number<int>("(bash) 12"));
    EXPECT_FALSE(leading_number<uint8_t>("300 x"));
}

TEST(TakeNumber, RemovesOnlyANumber) {
    std::string_view text = "7f00-80";
    EXPECT_EQ(take_number<unsigned>(text, 16), 0x7f00U);
    EXPECT_EQ(text, "-80");
    EXPECT_FALSE(take_number<unsigned>(text, 16));
    EXPECT_EQ(text, "-80");
}

TEST(ParsePort, IsFrom1To65535WithoutLeadingZeros) {
    EXPECT_EQ(parse_port("1"), 1);
    EXPECT_EQ(parse_port("65535"), 65535);
    for (const char* text : {"", "0", "01", "00", "65536", "-1", "80 ", "http"})
        EXPECT_FALSE(parse_port(text)) << text;
}

TEST(Ascii, ClassesOfCharacters) {
    for (char letter : std::string_view("azAZ09_")) EXPECT_TRUE(is_name_character(letter)) << letter;
    for (char letter : std::string_view("-.@[`{/: \xe9")) EXPECT_FALSE(is_name_character(letter)) << letter;
    for (char letter : std::string_view("aZ5!#$%&'*+-.^_`|~")) EXPECT_TRUE(is_token_character(letter));
    for (char letter : std::string_view("\0 \t()<>@,;:\\\"/[]?={}\x7f\xe9", 23))
        EXPECT_FALSE(is_token_character(letter)) << letter;
}

TEST(Ascii, HexadecimalDigitsInLowerCase) {
    for (char letter : std::string_view("09af")) EXPECT_TRUE(is_lower_hex_digit(letter)) << letter;
    for (char letter : std::string_view("gAF/:x")) EXPECT_FALSE(is_lower_hex_digit(letter)) << letter;
}

TEST(Ascii, NamesOfVariables) {
    EXPECT_TRUE(is_variable_name("PATH"));
    EXPECT_TRUE(is_variable_name("_1"));
    for (const char* text : {"", "1A", "A-B", "A=", "A B"}) EXPECT_FALSE(is_variable_name(text)) << text;
}

TEST(Ascii, LowerCaseChangesOnlyAsciiLetters) {
    EXPECT_EQ(lower("AZaz09[@`{\xc4"), "azaz09[@`{\xc4");
    EXPECT_EQ(lower(""), "");
    EXPECT_EQ(upper("AZaz09[@`{\xe4"), "AZAZ09[@`{\xe4");
}

TEST(Ascii, ComparesWithoutCase) {
    EXPECT_TRUE(equals_ignoring_case("Content-Length", "content-LENGTH"));
    EXPECT_FALSE(equals_ignoring_case("a", "ab"));
    EXPECT_FALSE(equals_ignoring_case("@", "`"));
    EXPECT_TRUE(starts_ignoring_case("JobId=7", "jobid="));
    EXPECT_TRUE(starts_ignoring_case("x", ""));
    EXPECT_FALSE(starts_ignoring_case("Job", "jobid"));
}

TEST(Hosts, OnlyIpv6GetsBrackets) {
    EXPECT_EQ(with_port("example.org", 443), "example.org:443");
    EXPECT_EQ(with_port("10.0.0.1", 22), "10.0.0.1:22");
    EXPECT_EQ(with_port("2001:db8::1", 443), "[2001:db8::1]:443");
    EXPECT_EQ(with_port("[2001:db8::1]", 443), "[2001:db8::1]:443");
    EXPECT_EQ(in_brackets("::1"), "[::1]");
    EXPECT_EQ(without_brackets("[::1]"), "::1");
    for (const char* text : {"", "[", "]", "[::1", "::1]", "a"}) EXPECT_EQ(without_brackets(text), text);
}

TEST(Hosts, TheColonBeforeThePort) {
    EXPECT_EQ(find_port_colon("example.org:443"), 11U);
    EXPECT_EQ(find_port_colon("[2001:db8::1]:443"), 13U);
    for (const char* text : {"", "example.org", "2001:db8::1", "[2001:db8::1]"})
        EXPECT_FALSE(find_port_colon(text)) << text;
}

TEST(PercentDecoded, ReplacesOnlyCompleteCodes) {
    EXPECT_EQ(percent_decoded("a%3Db%2f"), "a=b/");
    EXPECT_EQ(percent_decoded("100%"), "100%");
    EXPECT_EQ(percent_decoded("%4"), "%4");
    EXPECT_EQ(percent_decoded("%zz%-1"), "%zz%-1");
    EXPECT_EQ(percent_decoded("%%41"), "%A");
}

}  // namespace
