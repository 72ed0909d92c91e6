// SPDX-License-Identifier: MIT
#include "plan/home/secret_lines.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "config/data.h"
#include "plan/home/filtered_files.h"

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

// A value without a form of its own, so that only the form of the line counts.
TEST_F(SecretLinesTest, LeavesOutFormsBesideAnAssignment) {
    struct Text {
        const char* file;
        const char* text;
    };
    for (const Text& one : std::initializer_list<Text>{
             {".bashrc", ": \"${GH_TOKEN:=wordZ}\"\nexport GH_TOKEN\n"},
             {".bashrc", "export X=\"${GH_TOKEN:-wordZ}\"\n"},
             {".zshrc", ": ${GH_TOKEN::=wordZ}\n"},
             {".bashrc", "read -r GH_TOKEN <<< wordZ\n"},
             {".bashrc", "read -r GH_TOKEN <<EOF\nwordZ\nEOF\n"},
             {".bashrc", "IFS= read -r -d \"\" GH_TOKEN <<-\"EOF\" || :\n\twordZ\n\tEOF\n"},
             {".bashrc", "mapfile -t GH_TOKEN <<< \"wordZ\"\n"},
             {".bashrc", "printf -v GH_TOKEN %s wordZ\n"},
             {".bashrc", "export GH_TO\\\nKEN=wordZ\n"},
             {".bashrc", "GH_TOKEN=\\\r\nwordZ\r\n"},
             {".bashrc", "declare -A X=(\n [GH_TOKEN]=wordZ\n)\n"},
             {".bashrc", "X[\"GH_TOKEN\"]=\"wordZ\"\n"},
             {".bashrc", "export GH_TOKEN=\"$(echo \"\nwordZ\n\")\"\n"},
             {".bashrc", "export GH_TOKEN=`\necho wordZ\n`\n"},
             {".bashrc", "alias x=\"curl -u me:wordZ https://a.example/\"\n"},
             {".bashrc", "alias x=\"curl --user me:wordZ https://a.example/\"\n"},
             {".bashrc", "curl -ume:wordZ https://a.example/\n"},
             {".bashrc", "alias x=\"mysql -u root -pwordZ\"\n"},
             {".bashrc", "docker login -u me -p wordZ reg.example\n"},
             {".bashrc", "alias x=\"wget --http-password wordZ\"\n"},
             {".bashrc", "alias x=\"tool --pass wordZ\"\n"},
             {".bashrc", "alias x=\"curl -b session=wordZ\"\n"},
             {".bashrc", "export U=\"https://a.example/?key=wordZ\"\n"},
             {".bashrc", "git config --global github.token wordZ\n"},
             {".bashrc", "MY_PW=wordZ\n"},
             {".bashrc", "PASS=wordZ\n"},
             {".bashrc", "export githubToken=wordZ\n"},
             {".bashrc", "export MY_JWT=wordZ\n"},
             {"config.fish", "set -gx \"GH_TOKEN\" wordZ\n"},
             {"config.fish", "set -gx GH_TOKEN \"\nwordZ\"\n"},
             {"config.fish", "echo wordZ | read -gx GH_TOKEN\n"},
             {".vimrc", "let $GH_TOKEN = 'wordZ'\n"},
             {".vimrc", "let g:gh_token =\n  \\ 'wordZ'\n"},
             {"init.lua", "vim.env[\"GH_TOKEN\"] = \"wordZ\"\n"},
             {"init.lua", "vim.fn.setenv(\"GH_TOKEN\", \"wordZ\")\n"},
             {"init.lua", "opts = {\n  api_key =\n  \"wordZ\",\n}\n"},
             {"init.lua", "vim.env.GH_TOKEN = [[\nwordZ]]\n"},
             {".emacs", "(setenv \"GH_TOKEN\" \"wordZ\")\n"},
             {".emacs", "(setenv \"GH_TOKEN\"\n \"wordZ\")\n"},
             {".emacs", "(setq gptel-api-key \"wordZ\")\n"},
             {".Rprofile", "github_token <- \"wordZ\"\n"},
             {".Rprofile", "assign(\"github_token\", \"wordZ\")\n"},
             {".tmux.conf", "set-environment -g \\\n GH_TOKEN \\\n wordZ\n"},
             {"config.toml", "[env.GH_TOKEN]\nvalue = \"wordZ\"\n"},
             {"config.toml", "[registries.x]\nsecret-key = \"wordZ\"\n"},
             {"config.toml", "[registries.x]\ntoken = \"\"\"\nwordZ\"\"\"\n"},
             {"config.toml", "[registry]\ncredential-provider = [\"x\", \"wordZ\"]\n"},
             {"config.toml", "[http]\nproxy = \"me:wordZ@proxy:80\"\n"},
             {".condarc", "my_token:\n  wordZ\n"},
             {".condarc", "my_token: |\n  a\n  wordZ\n"},
             {".curlrc", "user = \"me:wordZ\"\n"},
             {".curlrc", "-u me:wordZ\n"},
             {".curlrc", "oauth2-bearer = wordZ\n"},
             {".wgetrc", "http_passwd = wordZ\n"},
         }) {
        EXPECT_EQ(filtered(one.text, one.file).find("wordZ"), std::string::npos)
            << one.file << ": " << filtered(one.text, one.file);
    }
}

TEST_F(SecretLinesTest, KeepsWhatFollowsASecretInASetting) {
    EXPECT_NE(filtered("a = {\n  api_key = \"x\",\n  model = \"y\",\n}\n", "init.lua").find("model"),
              std::string::npos);
    EXPECT_NE(filtered("[env.GH_TOKEN]\nvalue = \"x\"\n[build]\njobs = 2\n", "config.toml").find("jobs = 2"),
              std::string::npos);
    EXPECT_NE(filtered("my_token:\n  x\nchannels:\n  - defaults\n", ".condarc").find("- defaults"),
              std::string::npos);
    for (std::string_view line :
         {"date -u +%H:%M:%S", "docker run -p 8080:80 -u 1000:1000 image", "mkdir -p a/b", "ssh -p 2222 host",
          "git config --global user.name me", "curl -u \"$USER:$PASSWORD\" https://a.example",
          "git@github.com:a/b", "[ -z \"${GH_TOKEN:-}\" ] && echo none", "read -rs GH_TOKEN",
          "unset GH_TOKEN"}) {
        EXPECT_EQ(filtered(line), line);
    }
    EXPECT_EQ(filtered("(getenv \"GH_TOKEN\")\n", ".emacs"), "(getenv \"GH_TOKEN\")\n");
}

TEST(GitConfigCopy, LeavesOutEveryWayToWriteASecret) {
    for (std::string_view text :
         {"[github] token = wordZ\n", "[core] [github] token = wordZ\n",
          "[core][credential] username = wordZ\n", "[http \"https://a.example\"] extraHeader = X-T: wordZ\n",
          "[sendemail \"id\"] smtpPass = wordZ\n", "[gitlab]\n\tprivateToken = wordZ\n",
          "[x]\n\tapikey = wordZ\n", "[x]\n\tclientSecret = wordZ\n", "[imap]\n\tpass = wordZ\n",
          "[http]\n\tproxy = me:wordZ@p:80\n", "[http]\n\tproxy = \"http:\"\"//me:wordZ@p:80\"\n",
          "[http]\n\tproxy = http:/\\\n/me:wordZ@p:80\n",
          "[url \"https:\\//me:wordZ@a.example/\"]\n\tinsteadOf = x\n",
          "[alias]\n\tx = \"!GH_TOKEN=wordZ gh\"\n", "[alias]\n\tx = \"!curl -u me:wordZ https://a\"\n",
          "# password wordZ\n", "[x]\n\ttoken = a\\\nwordZ\n"}) {
        EXPECT_EQ(plan::without_secrets(text).find("wordZ"), std::string::npos) << text;
    }
    const std::string_view ordinary =
        "# mine\n[user]\n\tname = Ann\n\temail = ann@a.example\n[alias]\n\tst = status\n"
        "\tl = log \\\n\t\t--oneline\n\tx = \"!git log -p\"\n[url \"git@github.com:\"]\n\tinsteadOf = gh:\n"
        "[core] editor = vim\n";
    EXPECT_EQ(plan::without_secrets(ordinary), ordinary);
    EXPECT_EQ(plan::without_secrets("[github] token = x\n\tuser = ann\n"), "[github]\n\tuser = ann\n");
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
