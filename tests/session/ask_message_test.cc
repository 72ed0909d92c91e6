// SPDX-License-Identifier: MIT
#include "session/asks/message.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"
#include "session/properties.h"

namespace session {
namespace {

std::optional<Ask> read_again(const std::string& name, const std::string& because = "to test") {
    return decode_ask(encode(Ask{Ask::Kind::path, name, because}));
}

TEST(AskMessage, ArrivesAsItWasSent) {
    for (Ask::Kind kind : {Ask::Kind::host, Ask::Kind::path, Ask::Kind::env}) {
        const Ask ask{kind, "/data/ä b", "to read the table"};
        EXPECT_EQ(decode_ask(encode(ask)), ask) << to_text(kind);
        EXPECT_EQ(ask_kind(to_text(kind)), kind);
    }
    EXPECT_FALSE(ask_kind("write"));
}

// Threat: the user reads another name than the one that is asked for.
TEST(AskMessage, IsRefusedWithANameThatReadsAsAnotherOne) {
    ASSERT_TRUE(read_again("/data/table"));
    EXPECT_FALSE(read_again("/data\n/table"));
    EXPECT_FALSE(read_again("/data\x1b[2K/table"));
    EXPECT_FALSE(
        read_again("/data/\xe2\x80\xae"
                   "elbat"))
        << "right-to-left override";
    EXPECT_FALSE(read_again("/data/\xff"));
    EXPECT_FALSE(read_again("/data/table ")) << "a blank at the end";
    EXPECT_FALSE(read_again(""));
    EXPECT_FALSE(read_again("/" + std::string(kLongestAskedName, 'x')));
}

TEST(AskMessage, ShowsAReasonAsPlainText) {
    std::optional<Ask> ask = read_again("/data", "a\x1b]0;x\x07\nline \xe2\x80\xae" + std::string(400, 'y'));
    ASSERT_TRUE(ask);
    EXPECT_EQ(base::printable(ask->because), ask->because);
    EXPECT_LE(ask->because.size(), 200u);
}

TEST(AskMessage, IsRefusedWhereItIsDamaged) {
    const std::string whole = encode(Ask{Ask::Kind::host, "example.org", "x"});
    for (size_t length = 0; length < whole.size(); ++length)
        EXPECT_FALSE(decode_ask(whole.substr(0, length))) << length;
    EXPECT_FALSE(decode_ask(whole + "more"));
    EXPECT_FALSE(decode_ask(std::string(kAskMark) + std::string(1, '\0') + "9" + std::string(3, '\0')));
}

TEST(AskMessage, HoldsItsPropertiesForEverySeed) {
    fuzz::expect_unbroken("session/corpus/ask", broken_for_ask);
}

TEST(AskAnswer, ArrivesAsItWasSent) {
    const AskAnswer answer{AskAnswer::Kind::filed, "100001"};
    EXPECT_EQ(decode_answer(encode(answer)), answer);
    EXPECT_FALSE(decode_answer("answer"));
}

}  // namespace
}  // namespace session
