// SPDX-License-Identifier: MIT
#include "monitor/screen.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "monitor/cells.h"

namespace monitor {
namespace {

using base::Json;

std::string id_of(int number) {
    std::string digits = std::to_string(number);
    return std::string(8 - digits.size(), '0') + digits + std::string(24, 'f');
}

Entry entry(int number) {
    Entry entry{.id = id_of(number)};
    entry.metadata.set("started", "2024-02-29T23:59:59.123Z")
        .set("backend", "native")
        .set("network", "filtered")
        .set("project", "/home/user/code/app")
        .set("command", Json::array().push("claude").push("--continue"));
    return entry;
}

Entry busy_entry(int number, int connections) {
    Entry busy = entry(number);
    Json open = Json::array();
    for (int index = 0; index < connections; ++index) {
        open.push(Json::object()
                      .set("name", "host" + std::to_string(index) + ".example.org")
                      .set("port", 443)
                      .set("protocol", "tls")
                      .set("sent", 2048)
                      .set("received", 5 << 20)
                      .set("age_ms", 12'000));
    }
    busy.layer = "4f2a: 12 files written or deleted";
    busy.status.set("connections", std::move(open))
        .set("connection_count", connections)
        .set("refused", 7)
        .set("limits", Json::array().push(Json::object()
                                              .set("name", "limits.memory")
                                              .set("value", 512 << 20)
                                              .set("used", 256 << 20)
                                              .set("text", "512M")))
        .set(
            "pending",
            Json::array().push(
                Json::object().set("id", 3).set("name", "pypi.org").set("port", 443).set("left_ms", 48'000)));
    for (int index = 0; index < 20; ++index) {
        busy.refusals.push_back(Json::object()
                                    .set("kind", "connection")
                                    .set("time", "2024-02-29T12:34:56.000Z")
                                    .set("name", "evil" + std::to_string(index) + ".example")
                                    .set("port", 80)
                                    .set("reason", "no rule allows it"));
    }
    return busy;
}

std::string text_of(const std::vector<Row>& rows) {
    std::string text;
    for (const Row& row : rows) text += row.text + "\n";
    return text;
}

bool has(const std::vector<Row>& rows, std::string_view text) {
    return std::ranges::any_of(rows,
                               [&](const Row& row) { return row.text.find(text) != std::string::npos; });
}

TEST(Screen, FitsEverySizeWhateverIsShown) {
    Screen screen;
    for (int number = 0; number < 30; ++number) screen.entries.push_back(busy_entry(number, 100));
    for (bool shows_help : {false, true}) {
        screen.shows_help = shows_help;
        for (size_t width : {1u, 5u, 17u, 40u, 59u, 60u, 80u, 200u}) {
            for (size_t height : {1u, 2u, 3u, 5u, 10u, 15u, 16u, 24u, 60u}) {
                for (size_t selected : {0u, 15u, 29u}) {
                    screen.selected = selected;
                    std::vector<Row> rows = render(screen, width, height);
                    ASSERT_EQ(rows.size(), height);
                    for (const Row& row : rows)
                        ASSERT_LE(cells_of(std::string_view(row.text)), width) << row.text;
                }
            }
        }
    }
}

TEST(Screen, ShowsEachSectionOfTheSelectedSessionAt80x24) {
    Screen screen{.entries = {entry(1), busy_entry(2, 50)}, .selected = 1, .home = "/home/user"};
    std::vector<Row> rows = render(screen, 80, 24);
    for (const char* text :
         {"2 sessions, 1 question", ">!00000002", "  00000001", "~/code/app", "claude --continue",
          "Waiting for your answer", "pypi.org:443", "48s left", "Connections 50", "host0.example.org:443",
          "2.0K sent", "5.0M received", "Refused 7", "12:34:56 evil0.example:80  no rule allows it", "Limits",
          "memory", "[##########----------] 256M of 512M", "q quit"})
        EXPECT_TRUE(has(rows, text)) << text << "\n" << text_of(rows);
}

TEST(Screen, KeepsWhatIsToBeAnsweredAt40x10) {
    Screen screen{.entries = {busy_entry(2, 50), entry(1)}, .selected = 0};
    std::vector<Row> rows = render(screen, 40, 10);
    for (const char* text : {">!00000002", "pypi.org:443", "host0.example.org", "Refused", "q quit"})
        EXPECT_TRUE(has(rows, text)) << text << "\n" << text_of(rows);
}

TEST(Screen, TheSelectedSessionIsAlwaysInTheList) {
    Screen screen;
    for (int number = 0; number < 200; ++number) screen.entries.push_back(entry(number));
    for (size_t selected = 0; selected < 200; ++selected) {
        screen.selected = selected;
        EXPECT_TRUE(has(render(screen, 80, 24), "> " + id_of(static_cast<int>(selected)).substr(0, 8)));
    }
}

TEST(Screen, HostileTextDrivesNoTerminal) {
    Screen screen{.entries = {busy_entry(1, 1)}};
    Entry& hostile = screen.entries[0];
    const std::string attack = "\x1b]0;owned\x07\x1b[2J\r\n\xff\u202e";
    hostile.metadata.set("command", Json::array().push(attack)).set("project", attack).set("backend", attack);
    hostile.status.set(
        "connections",
        Json::array().push(Json::object().set("name", attack).set("protocol", attack).set("port", 1)));
    hostile.refusals = {
        Json::object().set("kind", "file").set("path", attack).set("reason", attack).set("time", attack)};
    screen.notice = attack;
    for (const Row& row : render(screen, 80, 24)) {
        for (char letter : row.text) EXPECT_GE(static_cast<unsigned char>(letter), 0x20) << row.text;
        EXPECT_EQ(row.text.find("\u202e"), std::string::npos);
    }
}

TEST(Screen, MalformedStatusIsShownAsFarAsItGoes) {
    Screen screen{.entries = {entry(1)}};
    screen.entries[0].metadata = Json::array().push(1);
    screen.entries[0].status =
        Json::object()
            .set("connections", Json::array().push(1).push("text").push(Json::object()))
            .set("limits", Json::array().push(Json::object().set("value", INT64_MIN)))
            .set("pending", "none");
    EXPECT_EQ(render(screen, 80, 24).size(), 24u);
}

TEST(Screen, ALimitSaysWhatIsUsedAndOfHowMuch) {
    Json limit =
        Json::object().set("name", "limits.wall_time").set("value", 0).set("used", 90).set("text", "");
    EXPECT_EQ(limit_text(limit), "1m, no limit");
    EXPECT_EQ(limit_text(limit.set("text", "10m")), "1m of 10m");
    EXPECT_EQ(limit_text(Json::object().set("name", "limits.files").set("value", 5).set("text", "5")), "5");
    EXPECT_EQ(limit_text(Json::object().set("name", "limits.processes").set("used", 3)), "3, no limit");
    EXPECT_EQ(limit_text(Json()), "");
}

TEST(Screen, ASessionThatDoesNotAnswerSaysSo) {
    Screen screen{.entries = {entry(1)}};
    screen.entries[0].problem = "session 00000001 does not answer";
    EXPECT_TRUE(has(render(screen, 80, 24), "does not answer"));
}

TEST(Screen, WithoutSessionsItSaysSo) {
    Screen screen{.is_interactive = false};
    std::vector<Row> rows = render(screen, 80, 24);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].text, "agent-sandbox: no session is running");
}

TEST(Screen, AQuestionIsAskedInTheLastRow) {
    Screen screen{.entries = {entry(1)}, .question = "end session 00000001?"};
    EXPECT_EQ(render(screen, 80, 24).back().text, "end session 00000001? y/n");
}

TEST(Repaint, TouchesOnlyTheRowsThatChanged) {
    std::vector<Row> before = {{"one"}, {"two"}, {"three"}};
    std::vector<Row> after = {{"one"}, {"TWO"}, {"three"}};
    EXPECT_EQ(repaint(before, before, true), "");
    EXPECT_EQ(repaint(before, after, false), "\x1b[2;1H\x1b[KTWO");
    after[1].style = base::Style::red;
    EXPECT_NE(repaint(before, after, true).find("\x1b[31mTWO\x1b[0m"), std::string::npos);
    EXPECT_EQ(repaint(before, after, false).find("\x1b[31m"), std::string::npos);
    EXPECT_EQ(repaint({}, {{"x"}}, false), "\x1b[1;1H\x1b[Kx");
}

}  // namespace
}  // namespace monitor
