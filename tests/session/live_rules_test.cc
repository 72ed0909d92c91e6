// SPDX-License-Identifier: MIT
// Certificates of a running session, as the supervisor has them made (session/control/steering.h).
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <ctime>

#include "base/process/descriptors.h"
#include "session/control/steering.h"

namespace session {
namespace {

const std::vector<std::string> kHosts = {"api.example.org"};

// A control socket whose loop is open.
base::Fd listening() {
    base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    struct sockaddr address = {.sa_family = AF_UNIX, .sa_data = {}};
    EXPECT_EQ(::bind(socket.get(), &address, sizeof address.sa_family), 0) << "a name of the kernel's choice";
    EXPECT_EQ(::listen(socket.get(), 1), 0);
    return socket;
}

// Threat: a gateway that is taken over asks for certificates without end.
TEST(LiveRules, SignsOnceForManyRequestsOfTheGateway) {
    auto started = CertificateMaker::start(kHosts, std::time(nullptr));
    ASSERT_TRUE(started) << started.error().line();
    std::shared_ptr<CertificateMaker> maker = *std::move(started);
    ASSERT_TRUE(maker->take());
    base::Fd listener = listening();
    Control control;
    control.open(listener.get(), [](pid_t) { return true; });
    Gateway gateway;
    SessionDirectory directory;
    PublishedPorts ports({}, gateway, directory);
    audit::Writer record(base::Fd(), "", "", 0);
    LiveRules live({}, "", control, gateway, ports, record, {.names = kHosts, .maker = maker});
    live.renew_certificate();
    ASSERT_GE(maker->events(), 0) << "the names are sent";
    ASSERT_NE(base::await_events(control.events(), POLLIN, std::chrono::seconds(60)), 0);
    control.take();
    ASSERT_EQ(maker->events(), -1) << "the answer has come";
    for (int i = 0; i < 100; ++i) live.renew_certificate();
    EXPECT_EQ(maker->events(), -1);
}

TEST(LiveRules, KnowEntriesAboutRequests) {
    auto is_about = [](std::string target) {
        return is_about_requests({LiveRule::Kind::allow, std::move(target)});
    };
    EXPECT_TRUE(is_about("POST api.example.org/v1/**"));
    EXPECT_TRUE(is_about("push example.org/me/app refs/heads/agent/*"));
    EXPECT_TRUE(is_about("@github-read"));
    EXPECT_FALSE(is_about("example.org"));
    EXPECT_FALSE(is_about("udp:example.org:53"));
    EXPECT_FALSE(is_about("@github"));
    EXPECT_FALSE(is_about_requests({LiveRule::Kind::publish, "8080:80"}));
}

}  // namespace
}  // namespace session
