// SPDX-License-Identifier: MIT
// The view as a whole: system, /etc, home modes, extra mounts, sockets, the ceiling on paths.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/case.h"
#include "plan/system/etc.h"

namespace {

using test::access;
using test::Case;
using test::holds;
using test::mount_at;
using test::planned;

TEST(System, MergedUsrLinksStayLinks) {
    auto plan = planned({});
    ASSERT_TRUE(plan);
    ASSERT_NE(mount_at(*plan, "/bin"), nullptr);
    EXPECT_EQ(mount_at(*plan, "/bin")->kind, plan::MountKind::symlink);
    EXPECT_EQ(mount_at(*plan, "/bin")->source, "usr/bin");
    EXPECT_EQ(mount_at(*plan, "/var/log"), nullptr);
}

TEST(System, TheRootIsSealedLast) {
    auto plan = planned({});
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->mounts.back().kind, plan::MountKind::seal);
    EXPECT_TRUE(plan->mounts.back().target.is_root());
}

TEST(System, AVariableCantOpenPersonalPlaces) {
    Case example{.environment = {"HOME=/home/ann", "MODULEPATH=/home/bob:/site/modules:/home/ann/other:/"}};
    example.tree += "d /site/modules\n";
    auto plan = planned(example);
    ASSERT_TRUE(plan);
    EXPECT_EQ(access(*plan, "/site/modules/x"), "readonly");
    EXPECT_EQ(access(*plan, "/home/bob"), "absent");
    EXPECT_EQ(mount_at(*plan, "/home/ann/other"), nullptr);
}

TEST(Etc, IsAssembledWithoutPrivateFilesAndOtherUsers) {
    Case example{.private_etc = {"/etc/slurm/key"}};
    example.tree += "f /etc/slurm/key 0640\nf /etc/slurm/slurm.conf\nf /etc/shadow 0640\nf /etc/motd 0644\n";
    auto plan = planned(example);
    ASSERT_TRUE(plan);
    EXPECT_EQ(mount_at(*plan, "/etc")->kind, plan::MountKind::tmpfs);
    EXPECT_EQ(mount_at(*plan, "/etc/motd")->source, "/run/host/etc/motd");
    EXPECT_EQ(mount_at(*plan, "/run/host/etc/slurm/key")->kind, plan::MountKind::empty_file);
    EXPECT_EQ(mount_at(*plan, "/etc/shadow"), nullptr);
    ASSERT_NE(mount_at(*plan, "/etc/passwd"), nullptr);
    EXPECT_EQ(mount_at(*plan, "/etc/passwd")->source.find("bob"), std::string::npos);
    EXPECT_EQ(mount_at(*plan, "/run/host/etc/passwd")->kind, plan::MountKind::empty_file)
        << "the host's own must not be found";
}

TEST(Etc, NothingIsCoveredTwice) {
    Case example{.private_etc = {"/etc/shadow", "/etc/deep", "/etc/deep/key"}};
    example.tree += "f /etc/shadow 0640\nf /etc/deep/key 0600\n";
    auto plan = planned(example);
    ASSERT_TRUE(plan);
    std::vector<std::string> targets;
    for (const plan::Mount& mount : plan->mounts) {
        if (mount.kind == plan::MountKind::empty_file || mount.kind == plan::MountKind::tmpfs)
            targets.push_back(mount.target.str());
    }
    std::ranges::sort(targets);
    EXPECT_EQ(std::ranges::adjacent_find(targets), targets.end());
}

TEST(Etc, LeavesOutWhatAPersonHides) {
    Case example{.toml = {.user = "[mounts]\nhidden = [\"/etc/hosts\"]"}};
    auto plan = planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(mount_at(*plan, "/etc/hosts"), nullptr);
    EXPECT_EQ(mount_at(*plan, "/run/host/etc/hosts")->kind, plan::MountKind::empty_file);
}

TEST(Users, KeepTheSystemAndTheCaller) {
    host::Identity ann{
        .uid = 1000, .gid = 1000, .user = "ann", .group = "ann", .home = base::Path::known("/home/ann")};
    EXPECT_EQ(
        plan::filter_passwd(
            "root:x:0:0::/root:/bin/sh\nbob:x:1001:1::/h:/bin/sh\nann:x:1000:1000:A:/home/ann:/bin/zsh\n",
            ann),
        "root:x:0:0::/root:/bin/sh\nann:x:1000:1000:A:/home/ann:/bin/zsh\n");
    EXPECT_EQ(plan::filter_group("root:x:0:bob\nlab:x:2000:ann,bob\nsecret:x:2001:bob\nann:x:1000:\n", ann),
              "root:x:0:\nlab:x:2000:ann\nann:x:1000:\n");
}

TEST(Users, ACallerOfADirectoryServiceGetsAnEntry) {
    host::Identity eve{.uid = 70000, .gid = 70000, .user = "eve", .home = base::Path::known("/nfs/eve")};
    EXPECT_EQ(plan::filter_passwd("root:x:0:0::/root:/bin/sh\n", eve),
              "root:x:0:0::/root:/bin/sh\neve:x:70000:70000::/nfs/eve:/bin/sh\n");
}

TEST(Home, TmpwriteShowsListedFilesInAnEmptyHome) {
    auto plan = planned({});
    ASSERT_TRUE(plan);
    EXPECT_EQ(mount_at(*plan, "/home/ann")->kind, plan::MountKind::tmpfs);
    EXPECT_EQ(access(*plan, "/home/ann/.bashrc"), "readonly");
    EXPECT_EQ(access(*plan, "/home/ann/.ssh/id"), "hidden");
    EXPECT_EQ(mount_at(*plan, "/home/ann/.ssh"), nullptr) << "a name that is not there needs no cover";
}

TEST(Home, ReadShowsEverythingButCredentials) {
    auto plan = planned({.toml = {.user = "[home]\naccess = \"read\""}});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(mount_at(*plan, "/home/ann")->kind, plan::MountKind::bind_readonly);
    EXPECT_EQ(mount_at(*plan, "/home/ann/.ssh")->kind, plan::MountKind::tmpfs);
    EXPECT_EQ(mount_at(*plan, "/home/ann/.netrc")->kind, plan::MountKind::empty_file);
    EXPECT_EQ(access(*plan, "/home/ann/other/x"), "readonly");
}

TEST(Home, WriteHoldsMissingCredentialDirectories) {
    auto plan = planned({.toml = {.user = "[home]\naccess = \"write\""}});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(mount_at(*plan, "/home/ann")->kind, plan::MountKind::bind_writable);
    ASSERT_TRUE(holds(*plan, "/home/ann/.gnupg"));
    EXPECT_EQ(mount_at(*plan, "/home/ann/.gnupg")->kind, plan::MountKind::tmpfs);
}

TEST(Home, WriteKeepsDirectoriesAboveCredentialsInPlace) {
    Case example{.toml = {.user = "[home]\naccess = \"write\""}};
    example.tree += "f /home/ann/.config/gh/hosts.yml\n";
    auto plan = planned(example);
    ASSERT_TRUE(plan);
    ASSERT_NE(mount_at(*plan, "/home/ann/.config"), nullptr);
    EXPECT_EQ(mount_at(*plan, "/home/ann/.config")->kind, plan::MountKind::bind_writable);
}

TEST(Home, AListedPathThatLeavesHomeIsRefused) {
    Case example{.toml = {.user = "[home]\nreadonly = [\"out\"]"}};
    example.tree += "l /home/ann/out /home/bob\n";
    auto plan = planned(example);
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().line().find("leaves the home directory"), std::string::npos);
}

TEST(Home, SeededCopiesLoseTheirSecrets) {
    auto plan = planned({});
    ASSERT_TRUE(plan);
    const plan::Mount* copy = mount_at(*plan, "/home/ann/.gitconfig");
    ASSERT_NE(copy, nullptr);
    EXPECT_EQ(copy->kind, plan::MountKind::file);
    EXPECT_EQ(copy->source, "[user]\nname = Ann\n");
}

TEST(Home, SymlinkedHomeIsReachedByBothSpellings) {
    std::string tree = "d /usr\nl /home/ann ../data/ann\nd /data/ann/app\nf /data/ann/.bashrc\nd /tmp\n";
    auto plan = planned({.tree = tree});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(plan->project.str(), "/data/ann/app");
    EXPECT_EQ(mount_at(*plan, "/data/ann")->kind, plan::MountKind::tmpfs);
    ASSERT_NE(mount_at(*plan, "/home/ann"), nullptr);
    EXPECT_EQ(mount_at(*plan, "/home/ann")->source, "../data/ann");
}

TEST(Mounts, VisibleInsideHiddenAndHiddenInsideVisible) {
    Case example{
        .toml = {.user = "[mounts]\nreadonly = [\"/data\", \"/data/a/open\"]\nhidden = [\"/data/a\"]"}};
    example.tree += "d /data/a/open\nd /data/b\n";
    auto plan = planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(access(*plan, "/data/b"), "readonly");
    EXPECT_EQ(access(*plan, "/data/a/x"), "hidden");
    EXPECT_EQ(access(*plan, "/data/a/open/x"), "readonly");
}

struct BadEntry {
    const char* toml;
    const char* message;
};
class EntryRefused : public testing::TestWithParam<BadEntry> {};
TEST_P(EntryRefused, WithItsLine) {
    Case example{.toml = {.user = GetParam().toml}};
    example.tree +=
        "l /loop /loop\ns /run/docker.sock\ns /run/mine.sock\nd /run/x\nd /run/dbus\nc /dev/sda\n";
    auto plan = planned(example);
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().line().find(GetParam().message), std::string::npos) << plan.error().line();
    EXPECT_NE(plan.error().line().find("config.toml:2"), std::string::npos) << plan.error().line();
}
INSTANTIATE_TEST_SUITE_P(
    Table, EntryRefused,
    testing::Values(BadEntry{"[mounts]\nreadonly = [\"/nowhere\"]", "does not exist"},
                    BadEntry{"[mounts]\nreadonly = [\"/loop\"]", "loop"},
                    BadEntry{"[mounts]\nreadonly = [\"/\"]", "whole"},
                    BadEntry{"[mounts]\nreadonly = [\"/home\"]", "home directory"},
                    BadEntry{"[mounts]\nwritable = [\"/etc\"]", "/etc"},
                    BadEntry{"[mounts]\nwritable = [\"/dev\"]", "device"},
                    BadEntry{"[mounts]\nreadonly = [\"~/.ssh\"]", "can't be made readonly"},
                    BadEntry{"[mounts]\nreadonly = [\"/run/docker.sock\"]", "--dangerous-socket"},
                    BadEntry{"[mounts]\nwritable = [\"/run/docker.sock\"]", "--dangerous-socket"},
                    BadEntry{"[mounts]\nreadonly = [\"/run/mine.sock\"]", "--socket"},
                    BadEntry{"[mounts]\nreadonly = [\"/run/dbus\"]", "holds sockets"},
                    BadEntry{"[sockets]\nallow = [\"/run/docker.sock\"]", "dangerous"},
                    BadEntry{"[sockets]\nallow = [\"/run/x\"]", "not a socket"},
                    BadEntry{"[devices]\nallow = [\"/dev/sda\"]", "never let in"},
                    BadEntry{"[devices]\nallow = [\"/dev/none\"]", "no device"}));

// A read-only bind of a socket can still be connected to.
TEST(ShownDirectory, HidesTheSocketsThatActOutside) {
    Case example{.toml = {.user = "[mounts]\nreadonly = [\"/run/user\", \"/opt/box\", \"/var/lib\"]"}};
    example.tree +=
        "s /run/user/1000/bus\ns /run/user/1000/mine.sock\ns /run/user/1000/gnupg/S.gpg-agent\nf "
        "/run/user/1000/notes\n"
        "s /opt/box/docker.sock\nf /opt/box/docker.socket\ns /var/lib/lxd/unix.socket\n";
    auto plan = planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    for (const char* path : {"/run/user/1000/bus", "/run/user/1000/gnupg/S.gpg-agent", "/opt/box/docker.sock",
                             "/var/lib/lxd/unix.socket"}) {
        EXPECT_EQ(access(*plan, path), "hidden") << path;
    }
    for (const char* path : {"/run/user/1000/mine.sock", "/run/user/1000/notes", "/opt/box/docker.socket"}) {
        EXPECT_EQ(access(*plan, path), "readonly") << path;
    }
}

TEST(ShownDirectory, KeepsASocketThatWasNamed) {
    Case example{.toml = {.user = "[mounts]\nreadonly = [\"/opt/box\"]\n"
                                  "[sockets]\nallow_dangerous = [\"/opt/box/docker.sock\"]"}};
    example.tree += "s /opt/box/docker.sock\ns /opt/box/podman.sock\n";
    auto plan = planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(access(*plan, "/opt/box/docker.sock"), "writable");
    EXPECT_EQ(access(*plan, "/opt/box/podman.sock"), "hidden");
}

TEST(DenyWritable, CoversProjectAndWhatIsWritable) {
    Case refused{.toml = {.admin = "[mounts]\ndeny_writable = [\"/home/ann\"]"}};
    EXPECT_FALSE(planned(refused));
    Case inside{.toml = {.admin = "[mounts]\ndeny_writable = [\"/home/ann/app/src\"]"}};
    auto plan = planned(inside);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(access(*plan, "/home/ann/app/src/x"), "readonly");
    EXPECT_EQ(access(*plan, "/home/ann/app/x"), "writable");
}

TEST(DenyWritable, ShowsNothingThatWasNotShown) {
    Case example{.toml = {.admin = "[mounts]\ndeny_writable = [\"/secret\"]"}};
    example.tree += "d /secret\n";
    auto plan = planned(example);
    ASSERT_TRUE(plan);
    EXPECT_EQ(access(*plan, "/secret"), "absent");
}

TEST(Require, RefusesAWeakerLevel) {
    auto plan = planned({.toml = {.user = "[home]\naccess = \"read\"\n[isolation]\nrequire = \"hidden\""}});
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().line().find("credentials"), std::string::npos);
}

TEST(Sandbox, ItsOwnProgramInTheProjectIsReadOnly) {
    Case example;
    example.tree += "f /usr/bin/agent-sandbox 0755\n";
    auto plan = planned(example);
    ASSERT_TRUE(plan);
    EXPECT_EQ(mount_at(*plan, "/run/agent-sandbox/agent-sandbox")->source, "/usr/bin/agent-sandbox");
}

}  // namespace
