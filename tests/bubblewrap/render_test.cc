// SPDX-License-Identifier: MIT
#include "backends/bubblewrap/render.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"

namespace {

using backends::bubblewrap::Opened;
using backends::bubblewrap::render;
using base::Path;
using plan::Mount;
using plan::MountKind;

Mount mount(MountKind kind, std::string_view target, std::string source = {}) {
    return Mount{.kind = kind, .target = Path::known(target), .source = std::move(source)};
}

std::string line(const plan::Plan& plan, const Opened& opened = {}) {
    return base::join(render(plan, opened), " ");
}

// The part of the command line that describes the mounts.
std::string mounts_line(const plan::Plan& plan, const Opened& opened = {}) {
    std::string text = line(plan, opened);
    constexpr std::string_view kBefore = "--cap-drop ALL ", kAfter = " --chdir /";
    size_t begin = text.find(kBefore) + kBefore.size();
    return text.substr(begin, text.rfind(kAfter) - begin);
}

TEST(Render, EveryKindInTheOrderOfThePlan) {
    plan::Plan plan;
    plan.mounts = {mount(MountKind::bind_readonly, "/usr", "/usr"),
                   mount(MountKind::symlink, "/bin", "usr/bin"),
                   mount(MountKind::proc, "/proc"),
                   mount(MountKind::dev, "/dev"),
                   mount(MountKind::bind_device, "/dev/x", "/dev/y"),
                   mount(MountKind::tmpfs, "/tmp"),
                   mount(MountKind::directory, "/var"),
                   mount(MountKind::file, "/etc/passwd", "content"),
                   mount(MountKind::bind_writable, "/p", "/q"),
                   mount(MountKind::empty_file, "/p/.env"),
                   mount(MountKind::private_file, "/p/f", "copy"),
                   mount(MountKind::seal, "/")};
    EXPECT_EQ(mounts_line(plan, {.contents = {7, 8, 9}}),
              "--ro-bind /usr /usr --symlink usr/bin /bin --proc /proc --dev /dev --dev-bind /dev/y /dev/x "
              "--tmpfs /tmp "
              "--dir /var --file 7 /etc/passwd --bind /q /p --ro-bind-data 8 /p/.env --bind-data 9 /p/f "
              "--remount-ro /");
}

TEST(Render, TheSocketForNoticesIsThereWhereThereIsOne) {
    plan::Plan plan;
    plan.mounts = {mount(MountKind::tmpfs, "/run"), mount(MountKind::helper_socket, "/run/notify", "notify")};
    EXPECT_EQ(mounts_line(plan, {.sockets = {{"notify", "/state/s"}}}),
              "--tmpfs /run --ro-bind /state/s /run/notify");
    EXPECT_EQ(mounts_line(plan), "--tmpfs /run");
}

TEST(Render, AFileIsNeverWrittenIntoTheHost) {
    plan::Plan plan;
    plan.mounts = {mount(MountKind::bind_writable, "/p", "/p"), mount(MountKind::file, "/p/a"),
                   mount(MountKind::tmpfs, "/p/t"), mount(MountKind::file, "/p/t/b")};
    EXPECT_EQ(mounts_line(plan, {.contents = {5, 6}}),
              "--bind /p /p --ro-bind-data 5 /p/a --tmpfs /p/t --file 6 /p/t/b");
}

TEST(Render, AlwaysDiesWithUsAndHasNoPower) {
    std::string text = line(plan::Plan{});
    for (std::string_view option :
         {"--die-with-parent", "--as-pid-1", "--unshare-user", "--unshare-pid", "--unshare-uts",
          "--unshare-cgroup-try", "--unshare-ipc", "--cap-drop ALL"}) {
        EXPECT_NE(text.find(option), std::string::npos) << option;
    }
    EXPECT_EQ(text.find("--new-session"), std::string::npos);
}

TEST(Render, TheNetworkIsSharedOnlyWhenOpen) {
    plan::Plan plan;
    using policy::NetworkMode;
    for (NetworkMode mode :
         {NetworkMode::isolated, NetworkMode::proxied, NetworkMode::filtered, NetworkMode::open}) {
        plan.network.reached = mode;
        EXPECT_EQ(line(plan).find("--unshare-net") == std::string::npos, mode == NetworkMode::open);
    }
}

TEST(Render, SharedIpcAndSetuidBubblewrap) {
    plan::Plan plan;
    plan.processes.private_ipc = false;
    EXPECT_EQ(line(plan).find("--unshare-ipc"), std::string::npos);
    EXPECT_EQ(line(plan, {.unshares_user = false}).find("--unshare-user"), std::string::npos);
}

TEST(Render, OnlyOptionsOfTheOldestBubblewrap) {
    constexpr std::string_view kTooNew[] = {"--perms",   "--chmod",      "--clearenv",
                                            "--bind-fd", "--ro-bind-fd", "--size"};
    plan::Plan plan;
    for (int kind = 0; kind <= static_cast<int>(MountKind::seal); ++kind) {
        plan.mounts.push_back(mount(static_cast<MountKind>(kind), "/x", "/x"));
    }
    for (const std::string& word : render(plan, {.contents = {1, 2, 3}})) {
        EXPECT_EQ(std::ranges::find(kTooNew, word), std::end(kTooNew)) << word;
    }
}

}  // namespace
