// SPDX-License-Identifier: MIT
#include "session/detached/replay.h"

#include <gtest/gtest.h>

#include <string>

#include "fuzz/over_corpus.h"
#include "session/detached/keys.h"
#include "session/detached/logout.h"
#include "session/replay_properties.h"

namespace session {
namespace {

TEST(Replay, KeepsTextColoursAndTitles) {
    for (std::string_view text :
         {"plain\r\n", "\x1b[1;31mred\x1b[0m", "\x1b]0;title\a", "\x1b]8;;https://x.example\x1b\\x",
          "\x1b(B\x1b=\x1b"
          "7\x1b[?1049h\x1b[2J",
          "\x1b[3;4Hat\x1b[K", "Prüfung 雛"})
        EXPECT_EQ(without_questions(text), text);
}

TEST(Replay, AsksTheTerminalNothing) {
    for (std::string_view question : {"\x1b[c",
                                      "\x1b[>c",
                                      "\x1b[=c",
                                      "\x1b[6n",
                                      "\x1b[?6n",
                                      "\x1b[18t",
                                      "\x1b[x",
                                      "\x1b[?2026$p",
                                      "\x1b[>q",
                                      "\x1b[?u",
                                      "\x1bZ",
                                      "\x05",
                                      "\a",
                                      "\x1b]11;?\x1b\\",
                                      "\x1b]4;1;?\a",
                                      "\x1b]52;c;aGk=\a",
                                      "\x1b]9;note\a",
                                      "\x1bP$qm\x1b\\",
                                      "\x1bP+q544e\x1b\\",
                                      "\x1b_Gi=1,a=q;\x1b\\",
                                      "\x1b^text\x1b\\",
                                      "\x1bXtext\x1b\\",
                                      "\x1b[?1;1;0S"})
        EXPECT_EQ(without_questions("a" + std::string(question) + "b"), "ab") << question;
}

// A terminal would continue these sequences after the control character, or take two bytes for ESC [.
TEST(Replay, AsksNothingInAnInterruptedSequence) {
    EXPECT_EQ(without_questions("\x1b[6\nn"), "\nn");
    EXPECT_EQ(without_questions("\x1b\n[6n"), "\n[6n");
    EXPECT_EQ(without_questions("\x1b[6\an"), "n");
    EXPECT_EQ(without_questions("\x1b]0;t\x18\xc2\x9b"
                                "6n\a"),
              "");
    EXPECT_EQ(without_questions("\xc2\x9b"
                                "6n"),
              "6n");
    EXPECT_EQ(without_questions("\xc2\xc2\x9b\x9b"
                                "6n"),
              "\x9b"
              "6n");
    EXPECT_EQ(without_questions("\x1b\x1b[6nx"), "x");
}

TEST(Replay, DropsAnUnfinishedSequence) {
    for (std::string_view begun :
         {"\x1b", "\x1b[", "\x1b[1;3", "\x1b]0;title", "\x1bPq", "\x1b]52;c;aGk=\x1b"})
        EXPECT_EQ(without_questions("a" + std::string(begun)), "a") << begun;
}

TEST(Replay, HasTheLast256KiBFromTheStartOfALine) {
    Replay replay;
    std::string line(99, 'x');
    for (int count = 0; count < 20000; ++count) replay.add(line + "\n");
    const std::string text = replay.text();
    EXPECT_LE(text.size(), Replay::kMost);
    EXPECT_GT(text.size(), Replay::kMost - 200);
    EXPECT_TRUE(text.starts_with(line + "\n"));
}

TEST(Replay, SetsTheModesThatAreOlderThanItsText) {
    Replay replay;
    replay.add("\x1b[?1049h\x1b[?25");
    replay.add("l\x1b[?1000;2004h\x1b[?1000l");
    for (int count = 0; count < 20000; ++count) replay.add(std::string(99, 'x') + "\n");
    EXPECT_TRUE(replay.text().starts_with("\x1b[?25l\x1b[?1000l\x1b[?1049h\x1b[?2004hxxx"));
}

TEST(Replay, HoldsForEverySeed) {
    fuzz::expect_unbroken("session/corpus/replay", broken_for_replay);
}

// What `typed` passes on, with a mark where the keys are complete.
std::string passed(std::string_view keys, std::string_view typed, size_t piece) {
    DetachKeys detach = *DetachKeys::parse(keys);
    std::string text;
    for (size_t at = 0; at < typed.size(); at += piece) text += detach.take(typed.substr(at, piece));
    return text + (detach.are_complete() ? "|" : "");
}

TEST(DetachKeys, AreFoundInAnyPieces) {
    for (size_t piece : {size_t{1}, size_t{2}, size_t{100}}) {
        EXPECT_EQ(passed("ctrl-] d",
                         "ls\x1d"
                         "d",
                         piece),
                  "ls|");
        EXPECT_EQ(passed("ctrl-] d",
                         "a\x1d\x1d"
                         "d",
                         piece),
                  "a\x1d|");
        EXPECT_EQ(passed("ctrl-] d", "a\x1dxd", piece), "a\x1dxd");
        EXPECT_EQ(passed("ctrl-p ctrl-q", "\x10\x10\x11rest", piece), "\x10|");
        EXPECT_EQ(passed("ctrl-a", "\x01", piece), "|");
    }
}

TEST(DetachKeys, HoldBackABeginning) {
    EXPECT_EQ(passed("ctrl-] d", "x\x1d", 1), "x");
}

TEST(DetachKeys, RefuseOtherTexts) {
    for (std::string_view text : {"", "d", "ctrl-", "ctrl-] ", "ctrl-] dd", "ctrl-] ctrl-!", "ctrl- d", " ",
                                  "ctrl-a b c d e f g h i"})
        EXPECT_FALSE(DetachKeys::parse(text)) << text;
}

LogoutFacts facts_of(std::string cgroups, std::string configuration) {
    return {.user = "me", .cgroups = std::move(cgroups), .configuration = {std::move(configuration)}};
}
constexpr char kLogin[] = "0::/user.slice/user-1000.slice/session-3.scope\n";
constexpr char kDesktop[] = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope\n";
constexpr char kHybrid[] = "4:memory:/x\n1:name=systemd:/user.slice/user-1000.slice/session-3.scope\n0::/\n";

TEST(Logout, EndsALoginWhereLogindIsToldSo) {
    for (const char* cgroups : {kLogin, kHybrid}) {
        EXPECT_EQ(reason_for_end_at_logout(facts_of(cgroups, "")), "");
        EXPECT_EQ(reason_for_end_at_logout(facts_of(cgroups, "#KillUserProcesses=yes\n")), "");
        EXPECT_NE(reason_for_end_at_logout(facts_of(cgroups, "[Login]\nKillUserProcesses = yes\n")), "");
    }
    EXPECT_EQ(reason_for_end_at_logout(facts_of(kLogin, "KillUserProcesses=yes\nKillExcludeUsers=root me\n")),
              "");
    EXPECT_EQ(reason_for_end_at_logout(facts_of(kLogin, "KillUserProcesses=yes\nKillOnlyUsers=you\n")), "");
    LogoutFacts both = facts_of(kLogin, "KillUserProcesses=yes\n");
    both.configuration.emplace_back("KillUserProcesses=no\n");
    EXPECT_EQ(reason_for_end_at_logout(both), "");
}

TEST(Logout, EndsADesktopWithoutLingering) {
    LogoutFacts facts = facts_of(kDesktop, "");
    EXPECT_NE(reason_for_end_at_logout(facts).find("enable-linger"), std::string::npos);
    facts.lingers = true;
    EXPECT_EQ(reason_for_end_at_logout(facts), "");
}

TEST(Logout, LeavesOthersAlone) {
    for (const char* cgroups : {"", "0::/\n", "0::/system.slice/cron.service\n"})
        EXPECT_EQ(reason_for_end_at_logout(facts_of(cgroups, "KillUserProcesses=yes\n")), "");
}

}  // namespace
}  // namespace session
