// SPDX-License-Identifier: MIT
#include "base/bounded_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/text.h"

namespace base {
namespace {

std::string kept(size_t most, const std::string& output, size_t piece) {
    BoundedText text(most);
    for (size_t at = 0; at < output.size(); at += piece) text.add(output.substr(at, piece));
    EXPECT_EQ(text.bytes(), output.size());
    EXPECT_EQ(text.is_cut(), output.size() > most);
    return text.text();
}

TEST(BoundedTextTest, ShortOutputIsKeptWhole) {
    EXPECT_EQ(kept(8, "", 1), "");
    for (size_t piece = 1; piece <= 8; ++piece) EXPECT_EQ(kept(8, "abcdefgh", piece), "abcdefgh");
}

TEST(BoundedTextTest, LongOutputKeepsItsBeginningAndItsEnd) {
    for (size_t piece = 1; piece <= 30; ++piece) {
        EXPECT_EQ(kept(8, "abcdefghi", piece), "abcd\n[... 1 bytes are left out ...]\nfghi");
        EXPECT_EQ(kept(8, "abcd" + std::string(22, '-') + "wxyz", piece),
                  "abcd\n[... 22 bytes are left out ...]\nwxyz");
    }
}

TEST(BoundedTextTest, NoCharacterIsCutInTwo) {
    const std::string letters = "aäöüäöüäöüz";  // the cuts are inside of a letter
    for (size_t most = 2; most < 20; most += 2) {
        const std::string text = kept(most, letters, 5);
        EXPECT_TRUE(is_valid_utf8(text)) << most << ": " << text;
    }
}

TEST(BoundedTextTest, BytesThatAreNotUtf8StayAsTheyAre) {
    EXPECT_EQ(kept(8, "a\xff", 1), "a\xff");
    EXPECT_EQ(kept(8, "abc\xff--wxyz", 3), "abc\n[... 3 bytes are left out ...]\nwxyz");
    EXPECT_EQ(kept(4, "\x80\x80----\x80\x80", 3), "\x80\x80\n[... 6 bytes are left out ...]\n");
}

}  // namespace
}  // namespace base
