// SPDX-License-Identifier: MIT
#include "plan/agent/named_files.h"

#include <gtest/gtest.h>

#include <vector>

#include "plan/case.h"

namespace {

using Names = std::set<std::string>;

const std::vector<host::Entry> kEntries = {{.name = "statusline.sh", .kind = host::Kind::file},
                                           {.name = "notify", .kind = host::Kind::file},
                                           {.name = "my key.x", .kind = host::Kind::file},
                                           {.name = "scripts", .kind = host::Kind::directory}};

TEST(NamedFiles, OfTheStateAreFoundWhateverStandsBefore) {
    for (std::string_view text :
         {"~/.claude/statusline.sh", "$HOME/.claude/statusline.sh", "${CLAUDE_CONFIG_DIR}/statusline.sh",
          "/home/ann/.claude/statusline.sh --short", "{\"command\":\"bash statusline.sh\"}",
          "[\"./statusline.sh\"]", "~\\/.claude\\/statusline.sh", "cd ~/.claude && sh statusline.sh;"}) {
        EXPECT_TRUE(plan::named_in_state(text, kEntries).contains("statusline.sh")) << text;
    }
    EXPECT_TRUE(plan::named_in_state("\"~/.claude/my key.x\"", kEntries).contains("my key.x"));
    EXPECT_TRUE(plan::named_in_state("~/.claude/scripts/a/b.x -q", kEntries).contains("scripts/a/b.x"));
    EXPECT_TRUE(plan::named_in_state("\"scripts//a b.x\"", kEntries).contains("scripts/a b.x"));
    EXPECT_TRUE(plan::named_in_state("~/.codex/notify", kEntries).contains("notify"));
}

TEST(NamedFiles, OtherWordsAreNone) {
    for (std::string_view text : {"notify = true", "old-statusline.sh", "statusline.sh.bak", "scripts",
                                  "~/.claude/scripts/../../.ssh/id", ""}) {
        Names found = plan::named_in_state(text, kEntries);
        EXPECT_TRUE(found.empty()) << text << ": " << *found.begin();
    }
}

TEST(NamedFiles, BehindTheHomeDirectoryMissingOnesAreFoundToo) {
    for (std::string_view text :
         {"~/.claude/x.sh", "$HOME/.claude/x.sh", "\"${HOME}/.claude/x.sh\" -q", "/home/ann/.claude/x.sh"}) {
        EXPECT_EQ(plan::named_from_home(text, ".claude", "/home/ann"), Names{"x.sh"}) << text;
    }
    EXPECT_TRUE(plan::named_from_home("$CLAUDE_PROJECT_DIR/.claude/x.sh", ".claude", "/home/ann").empty());
}

TEST(NamedFiles, AreReadOnlyInThePlanAndDataIsNot) {
    test::Case example{.agent = R"([agent]
title = "Tiny"
commands = ["tiny"]
state = [".tiny"]
tokens = [".tiny/login.json"]
protect = [".tiny/settings.json"]
login = "run 'tiny login'"
)"};
    example.tree +=
        R"(f /home/ann/.tiny/settings.json 0644 "~/.tiny/run"\s"~/.tiny/bin/x"\s"~/.tiny/log"\s"~/.tiny/login.json"
f /home/ann/.tiny/login.json
f /home/ann/.tiny/run
f /home/ann/.tiny/bin/x
f /home/ann/.tiny/bin/y
d /home/ann/.tiny/log
f /home/ann/.tiny/tool 0755
f /home/ann/.tiny/history.jsonl 0755
f /home/ann/.tiny/old.py
f /home/ann/.tiny/start 0644 #!/bin/sh
)";
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    for (std::string_view name : {"run", "bin/x", "tool", "old.py", "start", "settings.json"})
        EXPECT_EQ(test::access(*plan, "/home/ann/.tiny/" + std::string(name)), "readonly") << name;
    for (std::string_view name : {"login.json", "bin/y", "log", "log/a", "history.jsonl", "new"})
        EXPECT_EQ(test::access(*plan, "/home/ann/.tiny/" + std::string(name)), "writable") << name;
}

}  // namespace
