// SPDX-License-Identifier: MIT
#include "plan/home/secret_lines.h"

#include <gtest/gtest.h>

#include "config/data.h"

namespace {

class SecretLinesTest : public testing::Test {
  protected:
    static policy::Items items(std::string_view list) {
        policy::Items items;
        for (const config::DataRow& row : config::data_list(list))
            items.push_back({.text = std::string(row.entry)});
        return items;
    }

    std::string filtered(std::string_view text, std::string_view name = ".bashrc") {
        return plan::without_secret_lines(text, name, names_).text;
    }
    bool is_left_out(std::string_view line, std::string_view name = ".bashrc") {
        return filtered(line, name).find(line) == std::string::npos;
    }

    const policy::Items block_ = items("environment/block"), patterns_ = items("environment/block_patterns");
    const plan::SecretNames names_{block_, patterns_};
};

TEST_F(SecretLinesTest, LeavesOutEveryWayToWriteASecret) {
    for (std::string_view line :
         {"export GITHUB_TOKEN=x", "export A=1 B_TOKEN=2", "GITHUB_TOKEN=x make", "typeset -x MY_SECRET=x",
          "declare -gx API_KEY=x", "[ -z \"$X\" ] && X_PASSWORD=x", "alias gh='GH_TOKEN=x gh'",
          "curl -H 'Authorization: token x' https://example.org", "curl -HAuthorization:x example.org",
          "export URL=https://me:word@example.org/", "my_api_key=x", "# export OLD_TOKEN=x",
          "X=ghp_0123456789012345678901234567890123456789", "Z=0123456789abcdef0123456789abcdef",
          "mysql --password=x", "SECRETS[github_token]=x", "export AWS_ACCESS_KEY_ID=x"}) {
        EXPECT_TRUE(is_left_out(line)) << line;
    }
    for (std::string_view line : {"set -gx GITHUB_TOKEN x", "set --export MY_SECRET x", "set -Ux A_KEY x"})
        EXPECT_TRUE(is_left_out(line, "config.fish")) << line;
    for (std::string_view line : {"setenv GITHUB_TOKEN x", "set my_password = x"})
        EXPECT_TRUE(is_left_out(line, ".cshrc")) << line;
    EXPECT_TRUE(is_left_out("set-environment -g GITHUB_TOKEN x", ".tmux.conf"));
    EXPECT_TRUE(is_left_out("let g:openai_api_key = 'x'", ".vimrc"));
    EXPECT_TRUE(is_left_out("Sys.setenv(GITHUB_PAT = \"x\")", ".Rprofile"));
    EXPECT_TRUE(is_left_out("  - https://me:word@conda.example.org/main", ".condarc"));
}

TEST_F(SecretLinesTest, KeepsOrdinaryLines) {
    for (std::string_view line :
         {"export EDITOR=vim", "PS1='\\u@\\h:\\w\\$ '", "alias ll='ls -l'",
          "[ -n \"$GITHUB_TOKEN\" ] && echo yes", "echo \"${GITHUB_TOKEN:-none}\"",
          "export PATH=$HOME/.local/bin:$PATH", "HISTCONTROL=ignoreboth", "source \"$HOME/.cargo/env\"",
          "eval \"$(starship init bash)\"",
          "[ -f /usr/share/bash-completion/bash_completion ] && . /usr/share/bash-completion/bash_completion",
          "export LESS_TERMCAP_mb=$'\\e[1;31m'", "bindkey '^R' history-incremental-search-backward"}) {
        EXPECT_EQ(filtered(line), line);
    }
    EXPECT_EQ(filtered("set -gx PATH $PATH ~/bin", "config.fish"), "set -gx PATH $PATH ~/bin");
}

TEST_F(SecretLinesTest, LineNumbersStay) {
    const std::string text = "a\nexport X_TOKEN='1\n2\n3'\nb\n";
    EXPECT_EQ(filtered(text), "a\n# left out by agent-sandbox: a secret\n#\n#\nb\n");
    EXPECT_EQ(plan::without_secret_lines(text, ".bashrc", names_).left_out, 3u);
}

TEST_F(SecretLinesTest, ABlockNeverBecomesEmpty) {
    EXPECT_EQ(filtered("if a; then\n  X_TOKEN=1\nfi\n"),
              "if a; then\n: # left out by agent-sandbox: a secret\nfi\n");
    EXPECT_EQ(filtered("f() {\n  X_TOKEN=1\n}\n"), "f() {\n: # left out by agent-sandbox: a secret\n}\n");
}

TEST_F(SecretLinesTest, WhatCantBeTakenOutAloneTakesItsBlock) {
    const std::string gone = "# left out by agent-sandbox: a secret\n#\n";
    EXPECT_EQ(filtered("a\nif b; then X_TOKEN=1\nfi\nc\n"), "a\n" + gone + "c\n");
    EXPECT_EQ(filtered("a\ncase b in\n  c) X_TOKEN=1 ;;\nesac\nd\n"), "a\n" + gone + "#\nd\n");
    EXPECT_EQ(filtered("a &&\n  X_TOKEN=1\nc\n"), gone + "c\n");
    EXPECT_EQ(filtered("a\ncat <<END\nX_TOKEN=1\nEND\nc\n"), "a\n" + gone + "#\nc\n");
}

TEST_F(SecretLinesTest, WhereItLosesTrackTheRestIsLeftOut) {
    EXPECT_EQ(filtered("a\nif b\nX_TOKEN=1\nc\n").find("TOKEN"), std::string::npos);
    EXPECT_EQ(filtered("a\necho '\nX_TOKEN=1\nc\n"), "a\n# left out by agent-sandbox: a secret\n#\n#\n");
    EXPECT_EQ(filtered("a\nfi\nX_TOKEN=1\nc\n").find("TOKEN"), std::string::npos);
}

}  // namespace
