// SPDX-License-Identifier: MIT
#include "import/bash.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "import/run_bash.h"
#include "import/support.h"

namespace {

using config::Imported;
using testing_support::carried_over;
using testing_support::entries;
using testing_support::imported;
using testing_support::is_told;
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
HOME_READONLY+=(.vimrc "$HOME/.tmux.conf" ~/.config/nvim)
HOME_WRITABLE+=(".cache/pip")
BLOCKED_FILES=("$HOME/.secret")
EXTRA_BLOCKED_PATHS=(/lab/private)
DEVICES=(/dev/nvidia* /dev/infiniband/uverbs0)
BLOCKED_ENV_VARS=(MY_VAR OTHER)
HIDE_FROM_SANDBOX+=(SITE_KEY)
BLOCKED_ENV_PATTERNS=("LAB_*" '*_PIN')
SANDBOX_ENV=("EDITOR=vim" 'GREETING=hello world')
export PRIVATE_TMP=true
FILTER_PASSWD=1
SANDBOX_QUIET=yes; NETWORK_FILTER_MODE=isolated
NETWORK_BLOCKLIST=("pastebin.com" "10.0.0.0/8:22")
ENABLED_AGENTS=(claude codex)
if [[ -d /no/such/directory ]]; then
    DEVICES_BLACKLIST+=(/dev/kvm)
fi
for name in one two; do EXTRA_WRITABLE_PATHS+=("/scratch/$name"); done
SANDBOX_NPROC_LIMIT=$((1024 * 2))
)~";

TEST(ImportBash, CarriesARealisticFileOver) {
    Imported result = imported(kRealistic);
    EXPECT_EQ(entries(result, "project.parents"), (Texts{"~/projects", "/scratch/ann", "/lab/genomics"}));
    EXPECT_EQ(entries(result, "mounts.readonly"),
              (Texts{"/opt/data", "/refs/with blank", "~/reference", "~/more", "/extra"}));
    EXPECT_EQ(scalar(result, "home.access"), "restricted");
    EXPECT_EQ(entries(result, "home.readonly"), (Texts{".vimrc", ".tmux.conf", ".config/nvim"}));
    EXPECT_EQ(entries(result, "home.writable"), (Texts{".cache/pip"}));
    Texts hidden = entries(result, "mounts.hidden");
    std::ranges::sort(hidden);
    EXPECT_EQ(hidden, (Texts{"/lab/private", "~/.secret"}));
    EXPECT_EQ(entries(result, "devices.allow"), (Texts{"/dev/nvidia*", "/dev/infiniband/uverbs0"}));
    EXPECT_EQ(entries(result, "env.block"), (Texts{"MY_VAR", "OTHER", "SITE_KEY"}));
    EXPECT_EQ(entries(result, "env.block_patterns"), (Texts{"LAB_*", "*_PIN"}));
    EXPECT_EQ(entries(result, "env.set"), (Texts{"EDITOR=vim", "GREETING=hello world"}));
    EXPECT_EQ(scalar(result, "isolation.private_tmp"), "true");
    EXPECT_EQ(scalar(result, "isolation.filter_passwd"), "true");
    EXPECT_EQ(scalar(result, "ui.quiet"), "true");
    EXPECT_EQ(scalar(result, "network.mode"), "isolated");
    EXPECT_EQ(entries(result, "network.block"), (Texts{"pastebin.com", "10.0.0.0/8:22"}));
    EXPECT_EQ(entries(result, "mounts.writable"), (Texts{"/scratch/one", "/scratch/two"}));
    EXPECT_EQ(scalar(result, "limits.processes"), "2048");
}

TEST(ImportBash, ListsWhatItLeftOutWithItsLine) {
    Imported result = imported(kRealistic);
    std::vector<std::pair<int, std::string>> lines;
    for (const config::LeftOut& left : result.left_out) lines.emplace_back(left.line, left.text);
    EXPECT_EQ(lines,
              (std::vector<std::pair<int, std::string>>{{26, "ENABLED_AGENTS"}, {28, "DEVICES_BLACKLIST"}}));
    EXPECT_TRUE(is_told(result, "ENABLED_AGENTS", "agent-sandbox profiles"));
    EXPECT_TRUE(is_told(result, "DEVICES_BLACKLIST", "a condition that does not hold on this machine"));
}

// Each of these restricted something there and has no equivalent rule here.
TEST(ImportBash, TellsEveryRestrictionThatIsNotCarriedOver) {
    struct Case {
        const char* script;
        const char* told;
        const char* reason;
    };
    for (const Case& one : std::initializer_list<Case>{
             {"ALLOWED_ENV_VARS=()", "ALLOWED_ENV_VARS", "profile of an agent"},
             {"ALLOWED_ENV_VARS=(MY_KEY)", "ALLOWED_ENV_VARS", "profile of an agent"},
             {"HOME_READONLY=()", "HOME_READONLY", "add to the built-in ones"},
             {"HOME_READONLY=(.vimrc)", "HOME_READONLY", "add to the built-in ones"},
             {"HOME_WRITABLE=()", "HOME_WRITABLE=()", "an empty list"},
             {"HOME_SEEDED_FILES=()", "HOME_SEEDED_FILES", "add to the built-in ones"},
             {"ALLOWED_PROJECT_PARENTS=()", "ALLOWED_PROJECT_PARENTS=()", "an empty list"},
             {"DENIED_WRITABLE_PATHS=(/software)", "mounts.deny_writable", "only the administrator's file"},
             {"LANDLOCK_REQUIRED_ABI=4", "LANDLOCK_REQUIRED_ABI", "isolation.require"},
             {"BLOCKED_FILES=(relative/path)", "relative/path", ""},
             {"EXTRA_BLOCKED_PATHS=(/a); EXTRA_BLOCKED_PATHS=$(no-such-command)", "no-such-command",
              "command failed"},
             {"BLOCKED_FILES+=text", "BLOCKED_FILES", "not known here"},
             {"source /no/such/file", "/no/such/file", "failed"},
             {"[[ -d /no/such ]] && NETWORK_FILTER_MODE=isolated\ntrue", "NETWORK_FILTER_MODE", "condition"},
             {"case $HOSTNAME in no-such-host) PRIVATE_TMP=true ;; esac", "PRIVATE_TMP", "condition"},
             {"f() { SLURM_SCOPE=session; }", "SLURM_SCOPE", "condition"},
             {"BLOCKED_FILES=(/a)\nif [[ -d /no/such ]]; then\n  BLOCKED_FILES+=(/b)\nfi", "BLOCKED_FILES",
              "condition"},
             {"BLOCKED_FILES=(/a)\n[[ -d /no/such ]] && BLOCKED_FILES+=(\n/b)\ntrue", "BLOCKED_FILES",
              "condition"},
             {"NETWORK_BLOCKLIT=(example.org)", "NETWORK_BLOCKLIT",
              "NETWORK_BLOCKLIST was probably meant"}}) {
        Imported result = imported(one.script);
        EXPECT_TRUE(is_told(result, one.told, one.reason)) << one.script << "\n" << result.toml;
    }
}

TEST(ImportBash, SaysNothingMoreWhereAListIsAddedTo) {
    for (const char* script : {"HOME_READONLY+=(.vimrc)", "HOME_READONLY=(\"${HOME_READONLY[@]}\" .vimrc)",
                               "ALLOWED_ENV_VARS+=(MY_KEY)", "BLOCKED_ENV_VARS=()", "HOME_ACCESS=read"}) {
        EXPECT_TRUE(imported(script).left_out.empty()) << script;
    }
}

TEST(ImportBash, RefusesAFileThatBashCantReadWhole) {
    for (const char* tail :
         {"X='", "X=\"", "READONLY_MOUNTS=(/a", "X=$(", "X=`", "X=${Y", "if true; then", "fi", "}", "exit 0",
          "exit 1", "set -e\nfalse", "set -u\nX=$NO_SUCH_VARIABLE", ":\n)"}) {
        auto result = testing_support::import_script("HOME_ACCESS=read\n" + std::string(tail) +
                                                     "\nNETWORK_FILTER_MODE=isolated\n");
        EXPECT_FALSE(result) << tail;
    }
    EXPECT_FALSE(testing_support::import_script(std::string_view("X=\0y", 4)));
    auto error = testing_support::import_script("A=1\nB=1\nX='\n");
    ASSERT_FALSE(error);
    EXPECT_NE(error.error().what.find("line 3"), std::string::npos) << error.error().what;
}

TEST(ImportBash, WithoutBashItSaysSo) {
    auto result = config::import_bash("HOME_ACCESS=read\n", {.check = {}, .home = {}});
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().what.find("needs bash"), std::string::npos);
}

TEST(ImportBash, TurnsAGuardIntoMatch) {
    for (const char* guard :
         {"[[ \"$_PROJECT_DIR\" == /lab/* ]] || return", "[[ $_PROJECT_DIR == \"/lab\"/* ]] || return 0",
          "[[ \"${_PROJECT_DIR}\" != /lab/* ]] && return 0", "[[ ! \"$_PROJECT_DIR\" == /lab/* ]] && return",
          "[[ $_PROJECT_DIR == /lab/* ]] || { return 0; }",
          "if [[ $_PROJECT_DIR != /lab/* ]]; then return; fi",
          "if [[ ! $_PROJECT_DIR = /lab/* ]]\nthen\n  return 1\nfi",
          "case \"$_PROJECT_DIR\" in /lab/*) ;; *) return ;; esac",
          "case $_PROJECT_DIR in\n  (/lab/*) : ;;\n  (*) return 0 ;;\nesac",
          "LAB=/lab\n[[ $_PROJECT_DIR == \"$LAB\"/* ]] || return",
          "[[ $_PROJECT_DIR == /* ]] || return\n[[ $_PROJECT_DIR == /lab/* ]] || return"}) {
        Imported result = imported(std::string(guard) + "\nPRIVATE_TMP=false\n");
        EXPECT_EQ(carried_over(result).match_project, "/lab/**") << guard;
        EXPECT_EQ(scalar(result, "isolation.private_tmp"), "false") << guard;
        EXPECT_TRUE(result.left_out.empty()) << guard;
    }
    Imported home = imported("[[ \"$_PROJECT_DIR\" == \"$HOME\"/work* ]] || return\nPRIVATE_TMP=false\n");
    EXPECT_EQ(carried_over(home).match_project, "~/work**");
}

// As an unconditional setting it could permit more than in the original file.
TEST(ImportBash, LeavesOutWhatDependsOnTheProjectInAnotherWay) {
    for (const char* guard :
         {"[[ $_PROJECT_DIR == /a/* || $_PROJECT_DIR == /b/* ]] || return",
          "[[ $_PROJECT_DIR == /[ab]/* ]] || return", "[[ $_PROJECT_DIR == '/a/*' ]] || return",
          "[[ $_PROJECT_DIR == a* ]] || return", "[[ $_PROJECT_DIR == /lab/* ]] && return",
          "[[ $_PROJECT_DIR != /lab/* ]] || return", "[[ ! $_PROJECT_DIR == /lab/* ]] || return",
          "if [[ $_PROJECT_DIR == /lab/* ]]; then return; fi", "case $_PROJECT_DIR in /lab/*) return ;; esac",
          "case $_PROJECT_DIR in /a/*|/b/*) ;; *) return ;; esac",
          "case $_PROJECT_DIR in /lab/*) ;; /x) return ;; esac", "[ $_PROJECT_DIR = /lab/x ] && return",
          "[[ $_PROJECT_DIR =~ /lab/.* ]] && return", "grep -q lab <<<\"$_PROJECT_DIR\" && return",
          "[[ $_PROJECT_DIR == /lab/* ]] || return\n[[ $_PROJECT_DIR == /other/* ]] || return"}) {
        Imported result = imported(std::string(guard) + "\nNETWORK_FILTER_MODE=open\n");
        EXPECT_EQ(scalar(result, "network.mode"), "(none)") << guard;
        EXPECT_TRUE(is_told(result, "NETWORK_FILTER_MODE")) << guard << "\n" << result.toml;
    }
}

TEST(ImportBash, AGuardBelowOtherSettingsKeepsThoseAndLeavesTheRestOut) {
    Imported result =
        imported("PRIVATE_TMP=true\n[[ $_PROJECT_DIR == /a/* ]] || return\nPRIVATE_IPC=false\n");
    EXPECT_EQ(scalar(result, "isolation.private_tmp"), "true");
    EXPECT_EQ(scalar(result, "isolation.private_ipc"), "(none)");
    EXPECT_FALSE(carried_over(result).match_project.has_value());
    EXPECT_TRUE(is_told(result, "PRIVATE_IPC", "depends on the project"));
}

TEST(ImportBash, HelpersOfTheFileAreNotReported) {
    Imported result = imported(
        "DATA=/lab/data\nREADONLY_MOUNTS=(\"$DATA/a\" ${DATA}/b)\nMORE=(/x /y)\n_dir=1\n"
        "READONLY_MOUNTS=(\"${READONLY_MOUNTS[@]}\" \"${MORE[@]}\")\nUNUSED=1\n");
    EXPECT_EQ(entries(result, "mounts.readonly"), (Texts{"/lab/data/a", "/lab/data/b", "/x", "/y"}));
    ASSERT_EQ(result.left_out.size(), 1u);
    EXPECT_EQ(result.left_out[0].text, "UNUSED");
}

TEST(ImportBash, ReadsWhatBashReads) {
    Imported result = imported(
        "READONLY_MOUNTS=('/a#b' \"/c;d\" /e\\ f \"/g\\\"h\" '/i\"j' /k'l'\"m\" \"/n'o\" $\"/p\" "
        "$'/q\\x72')\n"
        "READONLY_MOUNTS+=(/data/{1..3} /z{,.old})\nunset 'READONLY_MOUNTS[0]'\n"
        "declare -A SANDBOX_ENV=([A]=1 [B]=\"two 2\")\nSANDBOX_ENV[C]=3\nSANDBOX_ENV[A]=4\n"
        "readonly HOME_ACCESS=read\nHOME_READONLY+=([7]=.numbered)\n");
    EXPECT_EQ(entries(result, "mounts.readonly"),
              (Texts{"/c;d", "/e f", "/g\"h", "/i\"j", "/klm", "/n'o", "/p", "/qr", "/data/1", "/data/2",
                     "/data/3", "/z", "/z.old"}));
    EXPECT_EQ(scalar(result, "home.access"), "read");
    EXPECT_EQ(entries(result, "home.readonly"), (Texts{".numbered"}));
    Texts set = entries(result, "env.set");
    std::ranges::sort(set);
    EXPECT_EQ(set, (Texts{"A=4", "B=two 2", "C=3"}));
}

TEST(ImportBash, ReadsWindowsLinesAndContinuations) {
    Imported result =
        imported("HOME_ACCESS=read\r\nREADONLY_MOUNTS=(\r\n  /a\r\n)\r\nPRIVATE_TMP=\\\ntrue\n");
    EXPECT_EQ(scalar(result, "home.access"), "read");
    EXPECT_EQ(entries(result, "mounts.readonly"), (Texts{"/a"}));
    EXPECT_EQ(scalar(result, "isolation.private_tmp"), "true");
}

// Output, traps, redefinitions and shell options of the file do not affect the values.
TEST(ImportBash, TheFileCantDisturbTheReading) {
    for (const char* noise :
         {"echo READONLY_MOUNTS; echo 'variable'", "IFS=/", "printf() { :; }", "set -o noclobber",
          "shopt -s extglob nullglob", "exec >/dev/null", "trap 'echo x' DEBUG", "set -x", "declare() { :; }",
          "cd /", "umask 777", "alias source=false"}) {
        Imported result = imported(std::string(noise) + "\nREADONLY_MOUNTS=(/a /b)\nHOME_ACCESS=read\n");
        EXPECT_EQ(entries(result, "mounts.readonly"), (Texts{"/a", "/b"})) << noise;
        EXPECT_EQ(scalar(result, "home.access"), "read") << noise;
    }
}

TEST(ImportBash, LeavesOutValuesThatNoLongerExist) {
    Imported result =
        imported("SANDBOX_BACKEND=docker\nHOME_READONLY+=(/etc/x a/../../b)\nREADONLY_MOUNTS=(relative)\n");
    EXPECT_EQ(scalar(result, "isolation.backend"), "(none)");
    EXPECT_EQ(result.left_out.size(), 4u);
    EXPECT_TRUE(is_told(result, "READONLY_MOUNTS (relative)"));
}

// A ceiling applies to every user, so it contains no value of the user who imports it.
TEST(ImportBash, AnAdministratorsFileNamesNoUser) {
    Imported result = imported(
        "READONLY_MOUNTS=(\"$HOME/data\" ~/more /scratch/$USER)\nSANDBOX_ENV=(\"D=$HOME/x\")\n", true);
    config::ParsedFile parsed = config::parse_layer(config::Layer::admin, "x.toml", result.toml);
    ASSERT_TRUE(parsed.problems.empty());
    ASSERT_EQ(parsed.content.values["mounts.readonly"].items.size(), 2u);
    EXPECT_EQ(parsed.content.values["mounts.readonly"].items[0].text, "~/data");
    EXPECT_TRUE(is_told(result, "READONLY_MOUNTS", "depends on the user"));
    EXPECT_TRUE(is_told(result, "SANDBOX_ENV", "depends on the user"));
    EXPECT_EQ(result.toml.find("/home/ann"), std::string::npos);
}

TEST(ImportBash, LeavesAGuardOutOfAnAdministratorsFile) {
    Imported result = imported("[[ $_PROJECT_DIR == /lab/* ]] || return\nPRIVATE_TMP=true\n", true);
    EXPECT_EQ(result.carried, 0u);
    EXPECT_TRUE(is_told(result, "PRIVATE_TMP", "depends on the project"));
    EXPECT_TRUE(config::parse_layer(config::Layer::admin, "x.toml", result.toml).problems.empty());
}

// The importer removes the values that prevent every start, one after the other.
TEST(ImportBash, TakesOutWhatNoRunStartsWith) {
    config::ImportOptions options = testing_support::options_for();
    options.starts = [](const config::Values& values) -> base::Status {
        auto mounts = values.find("mounts.readonly");
        if (mounts == values.end()) return base::success();
        for (const config::Item& item : mounts->second.items) {
            if (item.text.starts_with("/etc"))
                return base::Error{.what = "it can't be mounted", .where = item.origin.describe()};
        }
        return base::success();
    };
    auto result = config::import_bash("READONLY_MOUNTS=(/usr /etc /app /etc/x)\n", options);
    ASSERT_TRUE(result);
    EXPECT_EQ(entries(*result, "mounts.readonly"), (Texts{"/usr", "/app"}));
    EXPECT_TRUE(is_told(*result, "mounts.readonly = /etc", "no run would start"));
    EXPECT_EQ(result->left_out.size(), 2u);
    EXPECT_TRUE(result->obstacle.empty());

    options.starts = [](const config::Values&) -> base::Status { return base::Error{.what = "no backend"}; };
    result = config::import_bash("PRIVATE_TMP=true\n", options);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->obstacle, "no backend");
}

TEST(ImportBash, TheReportStandsInTheFileToo) {
    Imported result = imported("PRIVATE_TMP=true\nREADONLY_MOUNTS=(relative)\nUNKNOWN=1\n");
    EXPECT_EQ(result.summary(), "carried over 1 setting, left out 2");
    EXPECT_NE(result.toml.find(
                  "# Import: carried over 1 setting, left out 2.\n#   line 2: READONLY_MOUNTS (relative): "),
              std::string::npos)
        << result.toml;
}

}  // namespace
