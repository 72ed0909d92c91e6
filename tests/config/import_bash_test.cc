// SPDX-License-Identifier: MIT
#include "config/import_bash.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "base/temporary_directory.h"
#include "config/import_support.h"

namespace {

using config::Imported;
using testing_support::carried_over;
using testing_support::entries;
using testing_support::scalar;
using testing_support::Texts;

constexpr std::string_view kRealistic = R"~(#!/usr/bin/env bash
# Site configuration
ALLOWED_PROJECT_PARENTS=(
    "$HOME/projects"     # mine
    /scratch/$USER
    '/lab/genomics'
)
READONLY_MOUNTS=(/opt/data "/refs/with blank" ~/reference "${HOME}/more")
READONLY_MOUNTS+=(
  /extra
)
HOME_ACCESS="restricted"
HOME_READONLY=(.vimrc "$HOME/.tmux.conf" ~/.config/nvim)
HOME_WRITABLE+=(".cache/pip")
BLOCKED_FILES=("$HOME/.secret")
EXTRA_BLOCKED_PATHS=(/lab/private)
DEVICES=(/dev/nvidia* /dev/infiniband/uverbs0)
BLOCKED_ENV_VARS=(MY_VAR OTHER)
BLOCKED_ENV_PATTERNS=("LAB_*" '*_PIN')
SANDBOX_ENV=("EDITOR=vim" 'GREETING=hello world')
export PRIVATE_TMP=true
FILTER_PASSWD=1
SANDBOX_QUIET=yes; NETWORK_FILTER_MODE=isolated
NETWORK_BLOCKLIST=("pastebin.com" "10.0.0.0/8:22")
ENABLED_AGENTS=(claude codex)
if [[ -d /data ]]; then
    READONLY_MOUNTS+=(/data)
fi
EXTRA_WRITABLE_PATHS=("$(mktemp -d)" /scratch/shared)
)~";

TEST(ImportBash, CarriesARealisticFileOver) {
    Imported imported = config::import_bash(kRealistic);
    EXPECT_EQ(entries(imported, "project.parents"), (Texts{"~/projects", "/lab/genomics"}));
    EXPECT_EQ(entries(imported, "mounts.readonly"),
              (Texts{"/opt/data", "/refs/with blank", "~/reference", "~/more", "/extra"}));
    EXPECT_EQ(scalar(imported, "home.access"), "restricted");
    EXPECT_EQ(entries(imported, "home.readonly"), (Texts{".vimrc", ".tmux.conf", ".config/nvim"}));
    EXPECT_EQ(entries(imported, "home.writable"), (Texts{".cache/pip"}));
    Texts hidden = entries(imported, "mounts.hidden");
    std::ranges::sort(hidden);
    EXPECT_EQ(hidden, (Texts{"/lab/private", "~/.secret"}));
    EXPECT_EQ(entries(imported, "devices.allow"), (Texts{"/dev/nvidia*", "/dev/infiniband/uverbs0"}));
    EXPECT_EQ(entries(imported, "env.block_patterns"), (Texts{"LAB_*", "*_PIN"}));
    EXPECT_EQ(entries(imported, "env.set"), (Texts{"EDITOR=vim", "GREETING=hello world"}));
    EXPECT_EQ(scalar(imported, "isolation.private_tmp"), "true");
    EXPECT_EQ(scalar(imported, "isolation.filter_passwd"), "true");
    EXPECT_EQ(scalar(imported, "ui.quiet"), "true");
    EXPECT_EQ(scalar(imported, "network.mode"), "isolated");
    EXPECT_EQ(entries(imported, "network.block"), (Texts{"pastebin.com", "10.0.0.0/8:22"}));
    EXPECT_EQ(entries(imported, "mounts.writable"), (Texts{"/scratch/shared"}));
}

TEST(ImportBash, ListsWhatItLeftOutWithItsLine) {
    Imported imported = config::import_bash(kRealistic);
    std::vector<std::pair<int, std::string>> lines;
    for (const config::LeftOut& left : imported.left_out) lines.emplace_back(left.line, left.text);
    EXPECT_EQ(lines, (std::vector<std::pair<int, std::string>>{{5, "/scratch/$USER"},
                                                               {25, "ENABLED_AGENTS"},
                                                               {26, "if [[ -d /data ]] …"},
                                                               {29, "\"$(mktemp -d)\""}}));
    EXPECT_NE(imported.left_out[0].reason.find("$USER"), std::string::npos);
    EXPECT_NE(imported.left_out[1].reason.find("agent-sandbox profiles"), std::string::npos);
    EXPECT_NE(imported.left_out[2].reason.find("conditions"), std::string::npos);
    EXPECT_NE(imported.left_out[3].reason.find("command"), std::string::npos);
}

TEST(ImportBash, NeverRunsAnything) {
    testing_support::TemporaryDirectory directory;
    std::string trap = directory / "ran";
    config::import_bash("READONLY_MOUNTS=($(touch " + trap + ") `touch " + trap + "` /a)\ntouch " + trap +
                        "\neval 'touch " + trap + "'\n");
    EXPECT_NE(::access(trap.c_str(), F_OK), 0);
}

TEST(ImportBash, TurnsTheGuardIntoMatch) {
    for (const char* guard : {"[[ \"$_PROJECT_DIR\" == /lab/genomics/* ]] || return",
                              "[[ $_PROJECT_DIR == \"/lab/genomics\"/* ]] || return 0",
                              "[[ \"${_PROJECT_DIR}\" != /lab/genomics/* ]] && return 0"}) {
        Imported imported = config::import_bash(std::string(guard) + "\nPRIVATE_TMP=false\n");
        EXPECT_EQ(carried_over(imported).match_project, "/lab/genomics/**") << guard;
        EXPECT_EQ(scalar(imported, "isolation.private_tmp"), "false") << guard;
        EXPECT_TRUE(imported.left_out.empty()) << guard;
    }
    EXPECT_EQ(carried_over(config::import_bash("[[ \"$_PROJECT_DIR\" == \"$HOME\"/work* ]] || return\n"))
                  .match_project,
              "~/work**");
}

// A setting below a condition that is lost would otherwise count for every project.
TEST(ImportBash, LeavesOutWhatStandsBelowAGuardItCantCarryOver) {
    for (const char* guard :
         {"[[ -n $X ]] || return", "[[ $_PROJECT_DIR == /a/* || $_PROJECT_DIR == /b/* ]] || return",
          "[[ $_PROJECT_DIR == /[ab]/* ]] || return", "[[ $_PROJECT_DIR == '/a/*' ]] || return", "return",
          "if true; then return; fi", "[[ $_PROJECT_DIR == $LAB/* ]] || return",
          "[[ $_PROJECT_DIR == a* ]] || return"}) {
        Imported imported = config::import_bash(std::string(guard) + "\nNETWORK_FILTER_MODE=open\n");
        EXPECT_EQ(scalar(imported, "network.mode"), "(none)") << guard;
        EXPECT_EQ(imported.left_out.back().text, "NETWORK_FILTER_MODE=open") << guard;
    }
}

TEST(ImportBash, AGuardBelowOtherSettingsKeepsThoseAndLeavesTheRestOut) {
    Imported imported =
        config::import_bash("PRIVATE_TMP=true\n[[ $_PROJECT_DIR == /a/* ]] || return\nPRIVATE_IPC=false\n");
    EXPECT_EQ(scalar(imported, "isolation.private_tmp"), "true");
    EXPECT_EQ(scalar(imported, "isolation.private_ipc"), "(none)");
    EXPECT_FALSE(carried_over(imported).match_project.has_value());
    EXPECT_EQ(imported.left_out.size(), 2u);
}

TEST(ImportBash, UsesVariablesThatTheFileItselfSets) {
    Imported imported = config::import_bash(
        "DATA=/lab/data\nREADONLY_MOUNTS=(\"$DATA/a\" ${DATA}/b)\nMORE=(/x /y)\n"
        "READONLY_MOUNTS=(\"${READONLY_MOUNTS[@]}\" \"${MORE[@]}\")\nUNUSED=1\n");
    EXPECT_EQ(entries(imported, "mounts.readonly"), (Texts{"/lab/data/a", "/lab/data/b", "/x", "/y"}));
    ASSERT_EQ(imported.left_out.size(), 1u);
    EXPECT_EQ(imported.left_out[0].text, "UNUSED");
}

TEST(ImportBash, AddingToAListThatEarlierFilesMadeIsNoTrouble) {
    Imported imported = config::import_bash("READONLY_MOUNTS=(\"${READONLY_MOUNTS[@]}\" /x)\n");
    EXPECT_EQ(entries(imported, "mounts.readonly"), (Texts{"/x"}));
    EXPECT_TRUE(imported.left_out.empty());
}

TEST(ImportBash, LeavesConditionalAssignmentsOut) {
    for (const char* line : {"[[ -d /x ]] && READONLY_MOUNTS+=(/x)", "test -d /x && READONLY_MOUNTS=(/x)",
                             "READONLY_MOUNTS=(/x) || true", "for d in a b; do READONLY_MOUNTS+=(/$d); done",
                             "f() { READONLY_MOUNTS=(/x); }", "f() {\nREADONLY_MOUNTS=(/x)\n}",
                             "function f {\n  READONLY_MOUNTS=(/x)\n}",
                             "case $X in\n a) READONLY_MOUNTS=(/x) ;;\n *) : ;;\nesac",
                             "[[ -d /x ]] && {\nREADONLY_MOUNTS=(/x)\n}", "READONLY_MOUNTS=(/x) some_command",
                             "while :; do\nREADONLY_MOUNTS=(/x)\ndone", "(READONLY_MOUNTS=(/x))",
                             "cat <<EOF\nREADONLY_MOUNTS=(/x)\nEOF"}) {
        Imported imported = config::import_bash(std::string(line) + "\nPRIVATE_TMP=true\n");
        EXPECT_EQ(entries(imported, "mounts.readonly"), Texts{}) << line;
        EXPECT_EQ(scalar(imported, "isolation.private_tmp"), "true") << line;
        EXPECT_EQ(imported.left_out.size(), 1u) << line;
    }
}

TEST(ImportBash, ReadsQuotesOfAllKinds) {
    Imported imported = config::import_bash(
        "READONLY_MOUNTS=('/a#b' \"/c;d\" /e\\ f \"/g\\\"h\" '/i\"j' /k'l'\"m\" \"/n'o\" $\"/p\")\n");
    EXPECT_EQ(entries(imported, "mounts.readonly"),
              (Texts{"/a#b", "/c;d", "/e f", "/g\"h", "/i\"j", "/klm", "/n'o", "/p"}));
}

TEST(ImportBash, ReadsDeclarationsAndAssociativeArrays) {
    Imported imported = config::import_bash(
        "declare -a READONLY_MOUNTS=(/a)\nreadonly HOME_ACCESS=read\ndeclare -A SANDBOX_ENV=([A]=1 [B]=\"two "
        "2\")\n"
        "SANDBOX_ENV[C]=3\nSANDBOX_ENV[A]=4\n");
    EXPECT_EQ(entries(imported, "mounts.readonly"), (Texts{"/a"}));
    EXPECT_EQ(scalar(imported, "home.access"), "read");
    EXPECT_EQ(entries(imported, "env.set"), (Texts{"A=4", "B=two 2", "C=3"}));
}

TEST(ImportBash, LaterAssignmentsWin) {
    Imported imported = config::import_bash(
        "HOME_ACCESS=read\nHOME_ACCESS=write\nREADONLY_MOUNTS=(/a)\nREADONLY_MOUNTS=(/b /b)\n");
    EXPECT_EQ(scalar(imported, "home.access"), "write");
    EXPECT_EQ(entries(imported, "mounts.readonly"), (Texts{"/b"}));
}

TEST(ImportBash, LeavesOutValuesThatNoLongerExist) {
    Imported imported = config::import_bash(
        "SANDBOX_BACKEND=docker\nHOME_READONLY=(/etc/x a/../../b)\nREADONLY_MOUNTS=(relative /data/{1..3} "
        "${X:-/y})\n");
    EXPECT_EQ(scalar(imported, "isolation.backend"), "(none)");
    EXPECT_EQ(imported.left_out.size(), 6u);
}

TEST(ImportBash, ReadsWindowsLinesAndContinuations) {
    Imported imported =
        config::import_bash("HOME_ACCESS=read\r\nREADONLY_MOUNTS=(\r\n  /a\r\n)\r\nPRIVATE_TMP=\\\ntrue\n");
    EXPECT_EQ(scalar(imported, "home.access"), "read");
    EXPECT_EQ(entries(imported, "mounts.readonly"), (Texts{"/a"}));
    EXPECT_EQ(scalar(imported, "isolation.private_tmp"), "true");
}

TEST(ImportBash, TurnsOtherFormsOfTheGuardIntoMatch) {
    for (const char* guard :
         {"[[ ! \"$_PROJECT_DIR\" == /lab/* ]] && return", "[[ $_PROJECT_DIR == /lab/* ]] || { return 0; }",
          "[[ $_PROJECT_DIR == /lab/* ]] || exit 0", "if [[ $_PROJECT_DIR != /lab/* ]]; then return; fi",
          "if [[ ! $_PROJECT_DIR = /lab/* ]]\nthen\n  return 1\nfi",
          "case \"$_PROJECT_DIR\" in /lab/*) ;; *) return ;; esac",
          "case $_PROJECT_DIR in\n  (/lab/*) : ;;\n  (*) return 0 ;;\nesac",
          "LAB=/lab\n[[ $_PROJECT_DIR == \"$LAB\"/* ]] || return",
          "[[ $_PROJECT_DIR == /* ]] || return\n[[ $_PROJECT_DIR == /lab/* ]] || return"}) {
        Imported imported = config::import_bash(std::string(guard) + "\nPRIVATE_TMP=false\n");
        EXPECT_EQ(carried_over(imported).match_project, "/lab/**") << guard;
        EXPECT_EQ(scalar(imported, "isolation.private_tmp"), "false") << guard;
        EXPECT_TRUE(imported.left_out.empty()) << guard;
    }
}

TEST(ImportBash, NeverTurnsTheOppositeOfAGuardIntoMatch) {
    for (const char* guard :
         {"[[ $_PROJECT_DIR == /lab/* ]] && return", "[[ $_PROJECT_DIR != /lab/* ]] || return",
          "[[ ! $_PROJECT_DIR == /lab/* ]] || return", "if [[ $_PROJECT_DIR == /lab/* ]]; then return; fi",
          "case $_PROJECT_DIR in /lab/*) return ;; esac",
          "case $_PROJECT_DIR in /a/*|/b/*) ;; *) return ;; esac",
          "case $_PROJECT_DIR in /lab/*) ;; /x) return ;; esac", "case $X in /lab/*) ;; *) return ;; esac",
          "if [[ $_PROJECT_DIR != /lab/* ]]; then return; else PRIVATE_IPC=true; fi",
          "[ $_PROJECT_DIR = /lab/* ] || return", "[[ $_PROJECT_DIR =~ /lab/.* ]] || return",
          "[[ $_PROJECT_DIR == /lab/* ]] || return\n[[ $_PROJECT_DIR == /other/* ]] || return"}) {
        Imported imported = config::import_bash(std::string(guard) + "\nNETWORK_FILTER_MODE=open\n");
        EXPECT_EQ(scalar(imported, "network.mode"), "(none)") << guard;
        EXPECT_GE(imported.left_out.size(), 2u) << guard;
    }
}

// [match] is for users' files.
TEST(ImportBash, LeavesAGuardOutOfAnAdministratorsFile) {
    Imported imported = config::import_bash("[[ $_PROJECT_DIR == /lab/* ]] || return\nPRIVATE_TMP=true\n",
                                            {.for_administrator = true, .check = {}});
    EXPECT_EQ(imported.carried, 0u);
    EXPECT_EQ(imported.left_out.size(), 2u);
    EXPECT_TRUE(config::parse_layer(config::Layer::admin, "x.toml", imported.toml).problems.empty());
}

TEST(ImportBash, WhatOnlyAnAdministratorCanSayIsNoSettingOfAUser) {
    std::string script = "DENIED_WRITABLE_PATHS=(/software)\n";
    Imported imported = config::import_bash(script);
    EXPECT_TRUE(entries(imported, "mounts.deny_writable").empty());
    EXPECT_EQ(imported.left_out.size(), 1u);
    imported = config::import_bash(script, {.for_administrator = true, .check = {}});
    EXPECT_NE(imported.toml.find("\ndeny_writable = [\"/software\"]\n"), std::string::npos);
}

TEST(ImportBash, ExpandsListsInBraces) {
    Imported imported = config::import_bash(
        "READONLY_MOUNTS=(/data/{a,b} \"$HOME\"/{x,y}/{1,2} '/q/{r,s}' /n/{1..3} /e/{a,\"b\"} /z{,.old})\n");
    EXPECT_EQ(entries(imported, "mounts.readonly"),
              (Texts{"/data/a", "/data/b", "~/x/1", "~/x/2", "~/y/1", "~/y/2", "/q/{r,s}", "/z", "/z.old"}));
    EXPECT_EQ(imported.left_out.size(), 2u);
    // Two to the power of twenty.
    std::string many = "READONLY_MOUNTS=(/";
    for (int i = 0; i < 20; ++i) many += "{a,b}";
    EXPECT_EQ(config::import_bash(many + ")\n").left_out.size(), 1u);
}

TEST(ImportBash, ReadsDefaults) {
    Imported imported = config::import_bash(
        ": \"${HOME_ACCESS:=read}\" "
        "${SANDBOX_QUIET:=true}\nNETWORK_FILTER_MODE=${NETWORK_FILTER_MODE:-isolated}\n"
        "READONLY_MOUNTS=(\"${HOME%/}/a\" \"${HOME:-/root}/b\" ${OTHER:-/c} ${READONLY_MOUNTS[@]:-})\n");
    EXPECT_EQ(scalar(imported, "home.access"), "read");
    EXPECT_EQ(scalar(imported, "ui.quiet"), "true");
    EXPECT_EQ(scalar(imported, "network.mode"), "isolated");
    EXPECT_EQ(entries(imported, "mounts.readonly"), (Texts{"~/a", "~/b"}));
    ASSERT_EQ(imported.left_out.size(), 1u);
    EXPECT_NE(imported.left_out[0].reason.find("without one it would be '/c'"), std::string::npos);
}

TEST(ImportBash, AFileThatIsNotClosedLosesNothingInSilence) {
    for (const char* tail : {"X='", "X=\"", "READONLY_MOUNTS=(/a", "X=$(", "X=`", "X=${Y", "X=$'\\'"}) {
        Imported imported =
            config::import_bash("HOME_ACCESS=read\n" + std::string(tail) + "\nNETWORK_FILTER_MODE=open\n");
        EXPECT_EQ(scalar(imported, "home.access"), "read") << tail;
        EXPECT_EQ(scalar(imported, "network.mode"), "(none)") << tail;
        ASSERT_EQ(imported.left_out.size(), 1u) << tail;
        EXPECT_EQ(imported.left_out[0].line, 2) << tail;
        EXPECT_NE(imported.left_out[0].reason.find("never closed"), std::string::npos) << tail;
    }
}

TEST(ImportBash, TheReportStandsInTheFileToo) {
    Imported imported = config::import_bash("PRIVATE_TMP=true\nREADONLY_MOUNTS=(\"$(x)\")\nUNKNOWN=1\n");
    EXPECT_EQ(imported.summary(), "carried over 1 setting, left out 2");
    EXPECT_NE(imported.toml.find("# Import: carried over 1 setting, left out 2.\n#   line 2: \"$(x)\": "),
              std::string::npos);
}

TEST(ImportBash, SurvivesOddFilesAndStaysValid) {
    for (const std::string& odd :
         {std::string("READONLY_MOUNTS=("), std::string("X='"), std::string("X=\""), std::string("X=$("),
          std::string("X=${"), std::string("X=$"), std::string("X=`"), std::string("\\"),
          std::string("READONLY_MOUNTS=(/a\xff)"), std::string(")))((("), std::string("=x"),
          std::string("X[=1"), std::string("<<"), std::string(200000, '('), std::string("X=\0y", 4)}) {
        carried_over(config::import_bash(odd));
    }
    std::string deep = "X=";
    for (int i = 0; i < 100000; ++i) deep += "$(\"";
    carried_over(config::import_bash(deep));
}

TEST(ImportBash, StaysValidForRandomMixturesOfItsAlphabet) {
    const std::string_view pieces[] = {"READONLY_MOUNTS",
                                       "HOME_READONLY",
                                       "SANDBOX_ENV",
                                       "=",
                                       "+=",
                                       "(",
                                       ")",
                                       "\"",
                                       "'",
                                       "$HOME",
                                       "/a",
                                       " ",
                                       "\n",
                                       ";",
                                       "#",
                                       "\\",
                                       "${",
                                       "}",
                                       "$(",
                                       "`",
                                       "~",
                                       "[A]=",
                                       "if",
                                       "fi",
                                       "[[",
                                       "]]",
                                       "||",
                                       "return",
                                       "case",
                                       "esac",
                                       "$_PROJECT_DIR",
                                       "*)",
                                       ":",
                                       ":=",
                                       "unset",
                                       "$'",
                                       "\\x",
                                       "declare",
                                       "{",
                                       "x",
                                       "*",
                                       "\xc3"};
    std::mt19937 random(17);
    for (int round = 0; round < 3000; ++round) {
        std::string script;
        for (int i = 0; i < 40; ++i) script += pieces[random() % std::size(pieces)];
        carried_over(config::import_bash(script));
        if (HasFailure()) FAIL() << script;
    }
}

}  // namespace
