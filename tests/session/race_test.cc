// SPDX-License-Identifier: MIT
// A project that changes during the launch: a directory is replaced by a symbolic link, again and again,
// while jails are built.
#include <linux/fs.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>

#include "session/jail_fixture.h"

namespace {

using testing_support::Running;

class Race : public testing_support::JailTest, public testing::WithParamInterface<const char*> {};

TEST_P(Race, AMountIsNeverRedirected) {
    directory_.write("outside/hooks/file", "outside secret");
    directory_.write("p/git/hooks/file", "inside");
    std::filesystem::create_directory_symlink("../outside", project("link"));
    std::string git = project("git"), link = project("link");
    // Pause sometimes, in either state. Otherwise a builder that looks several times would never succeed. The
    // necessary pause depends on how long a launch takes on this machine.
    auto* breath = static_cast<std::atomic<useconds_t>*>(::mmap(
        nullptr, sizeof(std::atomic<useconds_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(breath, MAP_FAILED);
    *breath = 15'000;
    pid_t swapper = ::fork();
    if (swapper == 0) {
        for (unsigned swaps = 0;; ++swaps) {
            ::syscall(SYS_renameat2, AT_FDCWD, git.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
            if (swaps % 63 == 0) ::usleep(*breath);
        }
    }
    int refused = 0, ran = 0;
    for (int i = 0; i < 50 || (i < 500 && (ran == 0 || refused == 0)); ++i) {
        Running jail(
            script("cat git/hooks/file link/hooks/file 2>&1; echo; echo x > git/hooks/new && echo written",
                   {"backend", GetParam(), "readonly", project("git/hooks")}));
        int status = jail.wait();
        EXPECT_EQ(jail.said().find("outside secret"), std::string::npos) << jail.said();
        // Either refused in one line, or correct: the mount is at the intended place.
        bool is_refused = status == 125;
        EXPECT_TRUE(!is_refused || std::ranges::count(jail.said(), '\n') == 1) << jail.said();
        EXPECT_EQ(jail.said().find("written"), std::string::npos) << jail.said();
        ++(is_refused ? refused : ran);
        if (ran == 0 && refused % 10 == 0) *breath = std::min<useconds_t>(*breath * 2, 1'000'000);
    }
    ::kill(swapper, SIGKILL);
    ::waitpid(swapper, nullptr, 0);
    ::munmap(breath, sizeof *breath);
    EXPECT_GT(ran, 0) << "no jail was ever built, so nothing was shown";
    EXPECT_GT(refused, 0) << "the race was never met, so nothing was shown";
}

INSTANTIATE_TEST_SUITE_P(Backends, Race, testing::Values("bwrap", "native"));

}  // namespace
