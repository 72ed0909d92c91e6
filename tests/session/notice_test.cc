// SPDX-License-Identifier: MIT
#include "session/helpers/notices.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace session {
namespace {

const Screen kXterm{.kind = "xterm-256color", .takes_unicode = true};

TEST(NoticeText, KeepsPlainTextOfAnyLanguage) {
    EXPECT_EQ(notice_text("the build is done"), "the build is done");
    EXPECT_EQ(notice_text("Prüfung bestanden – 雛"), "Prüfung bestanden – 雛");
}

TEST(NoticeText, IsOneLine) {
    EXPECT_EQ(notice_text("  one\ntwo\r\n\tthree  "), "one two three");
}

TEST(NoticeText, HasNoControlCharacters) {
    EXPECT_EQ(notice_text("a\x1b[31mb\x07"
                          "c\x7f"
                          "d"),
              "a [31mb c d");
    EXPECT_EQ(notice_text("a\xc2\x9b"
                          "31mb"),
              "a 31mb")
        << "CSI as one character";
    EXPECT_EQ(notice_text("a\xe2\x80\xae"
                          "b"),
              "a b")
        << "text that runs backwards";
    EXPECT_EQ(notice_text(std::string_view("a\0b", 3)), "a b");
}

TEST(NoticeText, StaysValid) {
    EXPECT_EQ(notice_text("a\x9b\xff"
                          "b"),
              "a b");
    EXPECT_EQ(notice_text("cut \xe9\x9b"), "cut");
    std::string many;
    for (int i = 0; i < 400; ++i) many += "雛";
    EXPECT_TRUE(base::is_valid_utf8(notice_text(many)));
}

TEST(NoticeText, IsCut) {
    EXPECT_EQ(notice_text(std::string(5000, 'x')), std::string(200, 'x'));
    EXPECT_EQ(notice_text(std::string(198, 'x') + " yz"), std::string(198, 'x') + " y");
    EXPECT_EQ(notice_text(std::string(199, 'x') + " yz"), std::string(199, 'x'));
}

TEST(NoticeText, MayBeNothing) {
    EXPECT_EQ(notice_text(""), "");
    EXPECT_EQ(notice_text("\n\x1b \t"), "");
}

TEST(NoticeBytes, RingAndTellWhereThatIsUnderstood) {
    EXPECT_EQ(notice_bytes("done", kXterm), "\x1b]777;notify;agent-sandbox;done\a\a");
    Screen iterm = kXterm;
    iterm.is_iterm = true;
    EXPECT_EQ(notice_bytes("done", iterm), "\x1b]9;agent-sandbox: done\a\a");
}

TEST(NoticeBytes, TextIsNeverTakenForACommand) {
    Screen iterm = kXterm;
    iterm.is_iterm = true;
    EXPECT_EQ(notice_bytes("7;cmd.exe", iterm), "\x1b]9;agent-sandbox: 7;cmd.exe\a\a");
}

TEST(NoticeBytes, AreABellWhereNothingElseIsSafe) {
    for (const char* kind : {"linux", "dumb", "", "vt100", "screen-256color"})
        EXPECT_EQ(notice_bytes("done", {.kind = kind}), "\a") << kind;
    EXPECT_EQ(notice_bytes("\x1b", kXterm), "\a");
}

TEST(NoticeBytes, AreWrappedForMultiplexers) {
    const std::string in_tmux = "\x1bPtmux;\x1b\x1b]777;notify;agent-sandbox;done\a\x1b\\\a";
    EXPECT_EQ(notice_bytes("done", {.kind = "screen-256color", .is_in_tmux = true}), in_tmux);
    EXPECT_EQ(notice_bytes("done", {.kind = "tmux-256color"}), in_tmux) << "from another machine";
    EXPECT_EQ(notice_bytes("done", {.kind = "screen", .is_in_screen = true}),
              "\x1bP\x1b]777;notify;agent-sandbox;done\a\x1b\\\a");
}

// In a character set of single bytes, parts of a longer character are control characters: 0x9b is CSI.
TEST(NoticeBytes, AreAsciiWhereTheTerminalReadsSingleBytes) {
    Screen bytes = kXterm;
    bytes.takes_unicode = false;
    EXPECT_EQ(notice_bytes("a雛b", bytes), "\x1b]777;notify;agent-sandbox;a?b\a\a");
}

}  // namespace
}  // namespace session
