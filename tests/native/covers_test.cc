// SPDX-License-Identifier: MIT
#include "backends/covers.h"

#include <gtest/gtest.h>

#include "base/inside/jail_files.h"

namespace {

using backends::Cover;
using plan::MountKind;

plan::Mount mount(MountKind kind, std::string_view target, std::string source = {}) {
    return plan::Mount{.kind = kind, .target = base::Path::known(target), .source = std::move(source)};
}

// "KIND inside outside" for each.
std::vector<std::string> covers_of(std::vector<plan::Mount> mounts) {
    plan::Plan plan;
    plan.mounts = std::move(mounts);
    constexpr const char* kKinds[] = {"readonly", "writable", "nothing", "our_program"};
    std::vector<std::string> lines;
    for (const Cover& cover : backends::covers_of(plan))
        lines.push_back(kKinds[static_cast<size_t>(cover.kind)] + (" " + cover.inside.str()) + " " +
                        cover.outside.str());
    return lines;
}

using Lines = std::vector<std::string>;

TEST(Covers, AreWhatLiesOnFilesOfTheHost) {
    EXPECT_EQ(covers_of({mount(MountKind::bind_writable, "/p", "/p"),
                         mount(MountKind::bind_writable, "/p/.git", "/p/.git"),
                         mount(MountKind::bind_readonly, "/p/.git/config", "/p/.git/config"),
                         mount(MountKind::empty_file, "/p/.env"), mount(MountKind::tmpfs, "/p/keys"),
                         mount(MountKind::seal, "/p/keys"), mount(MountKind::tmpfs, "/tmp")}),
              (Lines{"writable /p/.git /p/.git", "readonly /p/.git/config /p/.git/config",
                     "nothing /p/.env /p/.env", "nothing /p/keys /p/keys"}));
}

TEST(Covers, HaveTheHostsName) {
    EXPECT_EQ(covers_of({mount(MountKind::bind_readonly, "/run/host/etc", "/etc"),
                         mount(MountKind::empty_file, "/run/host/etc/passwd")}),
              (Lines{"nothing /run/host/etc/passwd /etc/passwd"}));
}

TEST(Covers, OfProgramsAreOurOwn) {
    const std::string own = std::string(base::kOwnDirectory) + "/" + std::string(base::kOwnProgram);
    EXPECT_EQ(covers_of({mount(MountKind::bind_readonly, own, "/opt/agent-sandbox"),
                         mount(MountKind::bind_readonly, "/usr", "/usr"),
                         mount(MountKind::bind_readonly, "/usr/bin/mail", "/opt/agent-sandbox")}),
              (Lines{"our_program /usr/bin/mail /usr/bin/mail"}));
}

// The original file must not be visible, so the cover is empty.
TEST(Covers, OfChangedCopiesAreEmpty) {
    EXPECT_EQ(covers_of({mount(MountKind::bind_readonly, "/home/ann", "/home/ann"),
                         mount(MountKind::private_file, "/home/ann/.gitconfig", "[user]")}),
              (Lines{"nothing /home/ann/.gitconfig /home/ann/.gitconfig"}));
}

// No path in the jail leads to a source elsewhere on the host, and a place of the jail's own protects
// nothing.
TEST(Covers, LeaveOutWhatCannotBeHadAgain) {
    EXPECT_EQ(covers_of({mount(MountKind::bind_writable, "/home/ann", "/home/ann"),
                         mount(MountKind::bind_writable, "/home/ann/.cache", "/state/cache"),
                         mount(MountKind::tmpfs, "/home/ann/scratch"),
                         mount(MountKind::bind_device, "/home/ann/tty", "/dev/tty"),
                         mount(MountKind::empty_file, "/home/ann/scratch/f")}),
              Lines{});
}

}  // namespace
