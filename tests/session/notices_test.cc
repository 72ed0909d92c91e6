// SPDX-License-Identifier: MIT
#include "session/helpers/notices.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "base/process/descriptors.h"
#include "session/asks/message.h"

namespace session {
namespace {

class StaleSockets : public testing::Test {
  protected:
    void SetUp() override {
        char pattern[] = "/tmp/agent-sandbox-notices.XXXXXX";
        ASSERT_NE(::mkdtemp(pattern), nullptr);
        state_ = pattern;
        std::filesystem::create_directory(state_ + "/notify");
    }
    void TearDown() override { std::filesystem::remove_all(state_); }

    std::string make(const std::string& name, mode_t type, time_t age) const {
        std::string path = state_ + "/notify/" + name;
        EXPECT_EQ(::mknod(path.c_str(), type | 0600, 0), 0);
        time_t then = ::time(nullptr) - age;
        struct timespec times[] = {{then, 0}, {then, 0}};
        EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
        return path;
    }

    std::string state_;
};

TEST_F(StaleSockets, AreRemovedWhenTheyAreOld) {
    std::string old = make("old", S_IFSOCK, 7200);
    std::string young = make("young", S_IFSOCK, 5);
    std::string file = make("file", S_IFREG, 7200);
    remove_left_sockets(state_ + "/notify");
    EXPECT_FALSE(std::filesystem::exists(old));
    EXPECT_TRUE(std::filesystem::exists(young)) << "of a session that is just starting";
    EXPECT_TRUE(std::filesystem::exists(file)) << "not ours";
}

TEST_F(StaleSockets, NeedNoDirectory) {
    remove_left_sockets(state_ + "/nowhere");
}

// No file exists yet: no descriptor to watch, and no time to wait for.
TEST(Notices, AreNothingUntilOpened) {
    Notices notices;
    Notices::Clock::time_point now = Notices::Clock::now();
    EXPECT_EQ(notices.events(now), -1);
    EXPECT_EQ(notices.wait(now), -1);
    EXPECT_TRUE(notices.path().empty());
    notices.finish();
}

// A connection on the loopback whose close(2) waits an hour, if its end of `waits` is the last one.
struct Lingering {
    base::Fd waits, peer;
};
Lingering make_lingering() {
    base::Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    struct sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* place = reinterpret_cast<struct sockaddr*>(&address);
    EXPECT_EQ(::bind(listener.get(), place, size), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener.get(), place, &size), 0);
    Lingering made;
    made.waits = base::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(made.waits.get(), place, size), 0);
    made.peer = base::Fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const struct linger hour = {.l_onoff = 1, .l_linger = 3600};
    EXPECT_EQ(::setsockopt(made.waits.get(), SOL_SOCKET, SO_LINGER, &hour, sizeof hour), 0);
    const std::string block(1 << 20, 'x');
    while (::send(made.waits.get(), block.data(), block.size(), MSG_DONTWAIT) > 0) continue;
    return made;
}

// Threat: close(2) of a passed socket waits, and with it the supervisor.
TEST_F(StaleSockets, APassedSocketWhoseCloseWaitsHoldsNothingUp) {
    // The control: a process that closes such a socket waits until it is killed.
    Lingering outside = make_lingering();
    int ready[2], started[2];
    ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(started, O_CLOEXEC), 0);
    base::Fd ended(ready[0]), theirs(ready[1]), waits_for(started[0]), go(started[1]);
    const pid_t closer = ::fork();
    if (closer == 0) {
        go.reset();
        char letter = 0;
        (void)!::read(waits_for.get(), &letter, 1);  // until this is the last descriptor of the socket
        outside.waits.reset();
        (void)!::write(theirs.get(), "x", 1);
        ::_exit(0);
    }
    theirs.reset();
    outside.waits.reset();
    go.reset();
    EXPECT_EQ(base::await_events(ended.get(), POLLIN, std::chrono::milliseconds(300)), 0);
    ::kill(closer, SIGKILL);
    ::waitpid(closer, nullptr, 0);

    Notices notices;
    notices.open(state_, "socket");
    base::Fd sender(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    (void)notices.path().copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::connect(sender.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof address), 0);
    Lingering first = make_lingering(), second = make_lingering();
    const int passed[] = {first.waits.get(), second.waits.get()};
    ASSERT_EQ(base::send_with_descriptors(sender.get(), std::string(kAskMark), passed, 0), 0);
    first.waits.reset();
    second.waits.reset();
    int asked = 0;
    notices.when_asked([&](std::string_view, const base::Fd& client) { asked += client ? 1 : 0; });
    // Hangs here without the protection; the time limit of the test ends it.
    notices.take(Notices::Clock::now());
    EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace session
