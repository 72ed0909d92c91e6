// SPDX-License-Identifier: MIT
#include "plan/project/git_config_change.h"

#include <gtest/gtest.h>

#include "plan/project/git_config_strict.h"

namespace {

constexpr std::string_view kOld =
    "[core]\n"
    "\trepositoryformatversion = 0\n"
    "\tfilemode = true\n"
    "\tbare = false\n"
    "[remote \"origin\"]\n"
    "\turl = https://example.org/app.git\n"
    "\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
    "[branch \"main\"]\n"
    "\tremote = origin\n"
    "\tmerge = refs/heads/main\n";

// "": accepted. Otherwise the refused key and its line, or "text" and the line.
std::string judged(std::string_view old_text, std::string_view new_text) {
    auto is_out_of_reach = [](std::string_view server, std::string_view path) {
        return server.empty() ? path.starts_with("/srv/") : server != "near";
    };
    std::optional<plan::RefusedSetting> refused = plan::judge_git_config(old_text, new_text, is_out_of_reach);
    if (!refused) return "";
    EXPECT_FALSE(refused->why.empty());
    return (refused->key.empty() ? "text" : refused->key) + ":" + std::to_string(refused->line);
}

std::string with(std::string_view lines) {
    return judged(kOld, std::string(kOld) + std::string(lines));
}

// What git reads, as the strict parser sees it; "!N": git refuses line N.
std::string read(std::string_view text) {
    plan::StrictConfig config = plan::parse_git_config_strictly(text);
    if (config.bad_line != 0) return "!" + std::to_string(config.bad_line);
    std::string all;
    for (const plan::StrictSetting& setting : config.settings)
        all += setting.key + (setting.value ? "=" + *setting.value : "") + "|";
    return all;
}

TEST(GitConfigChange, WhatAPullRequestWritesIsAccepted) {
    EXPECT_EQ(with(""), "");
    EXPECT_EQ(with("[branch \"topic\"]\n\tremote = origin\n\tmerge = refs/heads/topic\n"), "");
    EXPECT_EQ(with("[branch \"topic\"]\n\tremote = .\n\tmerge = refs/heads/main\n\trebase = true\n"), "");
    EXPECT_EQ(with("[remote \"fork\"]\n\turl = git@example.org:me/app.git\n"
                   "\tfetch = +refs/heads/*:refs/remotes/fork/*\n"),
              "");
    EXPECT_EQ(with("[remote \"fork\"]\n\turl = ssh://git@example.org:22/me/app.git\n\tgh-resolved = base\n"),
              "");
    EXPECT_EQ(with("[user]\n\tname = \"A # B\"\n\temail = a@example.org\n"), "");
    EXPECT_EQ(with("[submodule \"lib/a.b\"]\n\turl = https://example.org/lib\n\tactive = true\n"), "");
    EXPECT_EQ(with("[branch \"topic\"]\n\tremote = https://example.org/me/app.git\n"
                   "\tpushRemote = git@example.org:me/app.git\n\tmerge = refs/heads/topic\n"),
              "");
    EXPECT_EQ(
        with("[maintenance]\n\tauto = false\n\tstrategy = incremental\n[http]\n\tpostBuffer = 524288000\n"
             "[lfs \"https://example.org/a.git/info/lfs\"]\n\taccess = basic\n\tlocksverify = true\n"),
        "");
    EXPECT_EQ(with("[branch \"topic\"]\n\tgithub-pr-owner-number = \"me#app#1\"\n"
                   "[remote \"origin\"]\n\tglab-resolved = base\n"),
              "");
    EXPECT_EQ(with("[submodule]\n\tactive = .\n[extensions]\n\tworktreeConfig = true\n"), "");
    EXPECT_EQ(judged("", "[core]\n\tsparseCheckout = true\n[index]\n\tsparse = false\n"), "");
    EXPECT_EQ(judged("", kOld), "");
}

TEST(GitConfigChange, AFetchReplacesNoBranchOfTheUser) {
    auto fetching = [](std::string_view references) {
        return with("[remote \"fork\"]\n\turl = https://example.org/app.git\n\tfetch = " +
                    std::string(references) + "\n");
    };
    for (std::string_view accepted : {"+refs/heads/*:refs/remotes/fork/*", "refs/heads/main", "^refs/heads/x",
                                      "+refs/tags/*:refs/tags/*", "refs/heads/main:"})
        EXPECT_EQ(fetching(accepted), "") << accepted;
    for (std::string_view refused :
         {"+refs/heads/main:refs/heads/main", "+refs/*:refs/*", "main:main", "a:refs/remotes/x:refs/heads/y"})
        EXPECT_NE(fetching(refused), "") << refused;
}

TEST(GitConfigChange, HarmlessSettingsCanBeRemovedAndRenamed) {
    EXPECT_EQ(judged(kOld, "[core]\n\tbare = false\n"), "");
    EXPECT_EQ(judged("[remote \"a\"]\n\turl = ./local\n[branch \"m\"]\n\tremote = a\n",
                     "[remote \"b\"]\n\turl = ./local\n[branch \"n\"]\n\tremote = b\n"),
              "");
}

TEST(GitConfigChange, KeysThatRunProgramsAreRefusedWithTheirLine) {
    for (std::string_view key : {"core.fsmonitor",
                                 "core.hookspath",
                                 "core.pager",
                                 "core.editor",
                                 "core.sshcommand",
                                 "core.gitproxy",
                                 "core.askpass",
                                 "core.worktree",
                                 "core.attributesfile",
                                 "alias.st",
                                 "credential.helper",
                                 "diff.external",
                                 "gpg.program",
                                 "http.proxy",
                                 "include.path",
                                 "init.templatedir",
                                 "sequence.editor",
                                 "interactive.difffilter",
                                 "uploadpack.packobjectshook",
                                 "protocol.allow",
                                 "extensions.partialclone",
                                 "extensions.unknown",
                                 "pager.log",
                                 "user.signingkey",
                                 "commit.gpgsign",
                                 "commit.template",
                                 "log.showsignature",
                                 "blame.ignorerevsfile",
                                 "core.excludesfile",
                                 "fetch.bundleuri",
                                 "http.sslverify",
                                 "http.cookiefile",
                                 "maintenance.repo",
                                 "pull.twohead",
                                 "push.default",
                                 "rerere.autoupdate",
                                 "status.showuntrackedfiles",
                                 "merge.tool",
                                 "push.followtags",
                                 "help.autocorrect",
                                 "safe.directory"}) {
        const size_t dot = key.find('.');
        std::string text =
            "[" + std::string(key.substr(0, dot)) + "]\n\t" + std::string(key.substr(dot + 1)) + " = x\n";
        EXPECT_EQ(with(text), std::string(key) + ":12");
    }
    for (std::string_view key : {"filter.x.clean",
                                 "filter.x.process",
                                 "diff.x.command",
                                 "diff.x.textconv",
                                 "merge.x.driver",
                                 "remote.x.vcs",
                                 "remote.x.uploadpack",
                                 "remote.x.receivepack",
                                 "remote.x.proxy",
                                 "remote.x.mirror",
                                 "remote.x.promisor",
                                 "url.x.insteadof",
                                 "remote.x.push",
                                 "lfs.x.url",
                                 "remote.x.partialclonefilter",
                                 "lfs.customtransfer.x.path",
                                 "url.x.pushinsteadof",
                                 "includeif.gitdir:/.path",
                                 "credential.x.helper",
                                 "branch.x.mergeoptions",
                                 "gpg.ssh.program",
                                 "hook.x.command",
                                 "http.https://x.proxy",
                                 "protocol.ext.allow",
                                 "trailer.x.cmd",
                                 "mergetool.x.cmd"}) {
        const size_t first = key.find('.'), last = key.rfind('.');
        std::string text = "[" + std::string(key.substr(0, first)) + " \"" +
                           std::string(key.substr(first + 1, last - first - 1)) + "\"]\n\t" +
                           std::string(key.substr(last + 1)) + " = x\n";
        EXPECT_EQ(with(text), std::string(key) + ":12");
    }
}

TEST(GitConfigChange, AddressesThatStartProgramsOrLeadIntoTheJailAreRefused) {
    for (std::string_view address : {"ext::sh -c evil",
                                     "fd::3",
                                     "-u./x",
                                     "--upload-pack=x",
                                     "foo://host/x",
                                     "foo::bar",
                                     "./evil.git",
                                     "evil.git",
                                     "/home/me/app/evil.git",
                                     "file:///home/me/evil.git",
                                     "ssh://-oProxyCommand=x/y",
                                     "ssh://git@-oProxyCommand=x/y",
                                     "-oProxyCommand=x:y",
                                     "git@-host:y",
                                     "host:-y",
                                     "ssh:///x",
                                     "~/x",
                                     "file:///%73rv/x.git",
                                     "near:x",
                                     "me@near:x",
                                     "ssh://near/x",
                                     "ssh://me@near:22/x",
                                     "git+ssh://near/x",
                                     "ssh://n%65ar/x",
                                     "ssh://[near]/x",
                                     "[near]:x",
                                     "[near:22]:x",
                                     "ssh://host/%73rv",
                                     "FILE:///srv/x",
                                     "https://"}) {
        EXPECT_EQ(with("[remote \"x\"]\n\turl = \"" + std::string(address) + "\"\n"), "remote.x.url:12")
            << address;
        EXPECT_EQ(with("[submodule \"x\"]\n\turl = \"" + std::string(address) + "\"\n"),
                  "submodule.x.url:12");
    }
    EXPECT_EQ(with("[remote \"x\"]\n\tpushurl = /srv/git/x.git\n\turl = file:///srv/git/x.git\n"), "");
    EXPECT_EQ(with("[remote \"x\"]\n\turl = \n"), "remote.x.url:12");
}

TEST(GitConfigChange, ABranchTracksARemoteThatIsDefined) {
    EXPECT_EQ(with("[branch \"x\"]\n\tremote = ./evil\n"), "branch.x.remote:12");
    EXPECT_EQ(with("[branch \"x\"]\n\tpushRemote = evil\n"), "branch.x.pushremote:12");
    EXPECT_EQ(with("[remote]\n\tpushDefault = evil\n"), "remote.pushdefault:12");
    EXPECT_EQ(with("[remote]\n\tpushDefault = https://example.org/x\n"), "remote.pushdefault:12");
    EXPECT_EQ(with("[checkout]\n\tdefaultRemote = evil\n"), "checkout.defaultremote:12");
    for (std::string_view address : {"/srv/git/x.git", "file:///srv/git/x.git", "evil/a:b", "ext::x",
                                     "near:x", "ssh://near/x", "foo://host/x"})
        EXPECT_EQ(with("[branch \"x\"]\n\tremote = " + std::string(address) + "\n"), "branch.x.remote:12")
            << address;
    // The remote goes, and the branch still names it.
    EXPECT_EQ(judged(kOld, "[branch \"main\"]\n\tremote = origin\n"), "branch.main.remote:2");
    // The user did so already.
    EXPECT_EQ(
        judged("[branch \"x\"]\n\tremote = ../y\n", "[branch \"x\"]\n\tremote = ../y\n[user]\n\tname = a\n"),
        "");
}

// git would fetch a missing object from the new address, without being asked.
TEST(GitConfigChange, TheAddressOfAPartialCloneStays) {
    constexpr std::string_view kAddress = "[remote \"a.b\"]\n\turl = https://example.org/x\n";
    for (std::string_view promise :
         {"[remote \"a.b\"]\n\tpromisor = true\n", "[extensions]\n\tpartialClone = a.b\n",
          "[remote \"a.b\"]\n\tpartialCloneFilter = blob:none\n"}) {
        const std::string old_text = std::string(kAddress) + std::string(promise);
        const std::string other = "[remote \"a.b\"]\n\turl = https://example.org/y\n";
        EXPECT_EQ(judged(old_text, other + std::string(promise)), "remote.a.b.url:0") << promise;
        EXPECT_EQ(judged(old_text, other + old_text), "remote.a.b.url:0") << promise;
        EXPECT_EQ(judged(old_text, promise), "remote.a.b.url:0") << promise;
        EXPECT_EQ(judged(old_text, old_text + "[remote \"c\"]\n\turl = https://example.org/y\n"), "")
            << promise;
        EXPECT_EQ(judged(old_text, old_text + "[remote \"a.b\"]\n\tpushurl = https://example.org/y\n"), "")
            << promise;
    }
}

TEST(GitConfigChange, SubmodulesAreUpdatedByGitOnly) {
    EXPECT_EQ(with("[submodule \"x\"]\n\tupdate = rebase\n"), "");
    EXPECT_EQ(with("[submodule \"x\"]\n\tupdate = \"!sh\"\n"), "submodule.x.update:12");
    EXPECT_EQ(with("[submodule \"../x\"]\n\tactive = true\n"), "submodule.../x.active:12");
}

TEST(GitConfigChange, OtherSettingsOfTheUserStayInTheirOrder) {
    constexpr std::string_view kOwn = "[alias]\n\ta = !x\n\ta = b\n[core]\n\thooksPath = /dev/null\n";
    EXPECT_EQ(judged(kOwn, std::string(kOwn) + "[user]\n\tname = x\n"), "");
    EXPECT_EQ(judged(kOwn, "[alias]\n\ta = b\n\ta = !x\n[core]\n\thooksPath = /dev/null\n"), "alias.a:0");
    EXPECT_EQ(judged(kOwn, "[alias]\n\ta = !x\n\ta = b\n"), "core.hookspath:0");
    EXPECT_EQ(judged(kOwn, "[alias]\n\ta = !x\n[core]\n\thooksPath = /dev/null\n"), "alias.a:0");
    EXPECT_EQ(judged(kOwn, "[alias]\n\ta = !y\n\ta = b\n[core]\n\thooksPath = /dev/null\n"), "alias.a:2");
    // A harmless value that overrules another one.
    constexpr std::string_view kTwo = "[submodule \"x\"]\n\tupdate = !x\n\tupdate = none\n";
    EXPECT_EQ(judged(kTwo, kTwo), "");
    EXPECT_EQ(judged(kTwo, "[submodule \"x\"]\n\tupdate = !x\n"), "submodule.x.update:0");
}

TEST(GitConfigChange, KeysAreComparedAsGitDoes) {
    EXPECT_EQ(with("[CORE]\n\tfsMonitor = x\n"), "core.fsmonitor:12");
    EXPECT_EQ(with("[Core]\n\tBARE = true\n"), "");
    EXPECT_EQ(with("[remote.x]\n\tvcs = x\n"), "remote.x.vcs:12");
    EXPECT_EQ(with("[user]\n\tname = x\n[core] fsmonitor = x\n"), "core.fsmonitor:13");
    EXPECT_EQ(with("[user]\n\tname = a\\\n[core]\n\tfsmonitor = x\n"), "user.fsmonitor:14");
    EXPECT_EQ(with("[user]\n\tname = \"a\\\nb\"\n"), "text:12");
    EXPECT_EQ(with("# \\\n[core]\n\tfsmonitor = x\n"), "core.fsmonitor:13");
    EXPECT_EQ(with("[advice \"x\"]\n\ty = true\n"), "advice.x.y:12");
}

TEST(GitConfigChange, LinesThatOtherProgramsMayReadDifferentlyAreRefused) {
    EXPECT_EQ(with("[user]\n\tname = a\r\n"), "text:12");
    EXPECT_EQ(with("[user]\r\n\tname = a\n"), "text:11");
    EXPECT_EQ(with("[user] name = a\n"), "text:11");
    EXPECT_EQ(with("[user]\n\tname = a # b\n"), "text:12");
    EXPECT_EQ(with("[user]\n\tname=a\n"), "text:12");
    EXPECT_EQ(with("[user  \"x\"]\n"), "text:11");
    EXPECT_EQ(with("[user]\n\tname = a\vb\n"), "text:12");
    EXPECT_EQ(with("# \x1b[2J\n"), "text:11");
    EXPECT_EQ(judged("", "\xef\xbb\xbf[user]\n\tname = a\n"), "text:1");
    EXPECT_EQ(with(std::string_view("[user]\n\tname = a\0b\n", 19)), "text:0");
    EXPECT_EQ(with("[user\n"), "text:11");
    EXPECT_EQ(with("[user]\n\tname = \"a\n"), "text:12");
    EXPECT_EQ(with("[user]\n\tname\n"), "user.name:12");
    EXPECT_EQ(judged("", "name = x\n"), "text:1");
    EXPECT_EQ(judged("", std::string(plan::kLongestJudgedConfig + 1, '\n')), "text:0");
    EXPECT_EQ(judged("[", "[user]\n"), "text:0");
    // A line that the user's file has already may stay.
    constexpr std::string_view kOdd = "[user] name = a # b\r\n";
    EXPECT_EQ(judged(kOdd, std::string(kOdd) + "\temail = b\n"), "");
}

TEST(GitConfigChange, TheStrictParserReadsAsGitDoes) {
    EXPECT_EQ(read("[a]\nb = \" c \" # d\ne = f\\\ng\nh = \"#\"\ni = \\\"j\\\"\nk = l  m \n"),
              "a.b= c |a.e=fg|a.h=#|a.i=\"j\"|a.k=l  m|");
    EXPECT_EQ(read("[a] b\n[a \"B c\"] d = \n"), "a.b|a.B c.d=|");
    EXPECT_EQ(read("[a]\nb = \\x\n"), "!2");
    EXPECT_EQ(read("[a]\n1b = x\n"), "!2");
    EXPECT_EQ(read("[a b]\n"), "!1");
    EXPECT_EQ(read("[a \"b\" ]\n"), "!1");
    EXPECT_EQ(read("[a]\nb c\n"), "!2");
    EXPECT_EQ(read("[a]\nb = \\"), "!2");
    EXPECT_EQ(read("\xef\xbb\xbf[a]\r\nb = c\r\n"), "a.b=c|");
}

}  // namespace
