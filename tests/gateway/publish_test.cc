// SPDX-License-Identifier: MIT
// Ports of a jail on the host's loopback. The connector is the real one. It runs in this same namespace, and
// the test itself acts as the jailed server.
#include "network/gateway/control/publish.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "gateway/test_context.h"
#include "network/gateway/relay/relay.h"
#include "network/netns/set_up.h"
#include "tcp_world.h"

namespace network::gateway {
namespace {

class PublishTest : public ::testing::Test {
  protected:
    PublishTest() : world_(Egress{}) {
        int pair[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
        connector_ = ::fork();
        if (connector_ == 0) {
            ::close(pair[0]);
            netns::serve_connections(pair[1]);
        }
        ::close(pair[1]);
        publish_.emplace(*world_.gateway, pipes_, base::Fd(pair[0]));
        server_ = bound_socket(SOCK_STREAM, "127.0.0.1", 0);
        jail_port_ = own_endpoint(server_.get())->port;
    }
    ~PublishTest() override {
        publish_.reset();
        // Its socket is closed, so the connector exits.
        EXPECT_EQ(::waitpid(connector_, nullptr, 0), connector_);
    }

    // Publishes the jail's port at a port that was free a moment ago.
    void publish() {
        base::Fd probe = bound_socket(SOCK_STREAM, "127.0.0.1", 0);
        Published published{.host_port = own_endpoint(probe.get())->port, .jail_port = jail_port_};
        probe.reset();
        base::Result<std::vector<base::Fd>> listeners = Publish::open({published});
        ASSERT_TRUE(listeners) << listeners.error().line();
        host_port_ = published.host_port;
        publish_->listen(std::move(listeners->front()), published);
    }
    Peer visit() const { return Peer(connect_to_loopback(host_port_)); }
    Peer accept() {
        base::Fd accepted;
        EXPECT_TRUE(run_until(world_.loop, [&] {
            accepted = base::Fd(::accept4(server_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
            return bool(accepted);
        }));
        return Peer(std::move(accepted));
    }
    bool hears(Peer& peer, std::string_view text) {
        return run_until(world_.loop, [&] { return peer.poll(), peer.received == text; });
    }
    bool is_over(Peer& peer) {
        return run_until(world_.loop, [&] { return peer.poll(), peer.has_ended || peer.was_reset; });
    }

    TestContext world_;
    PipePool pipes_;
    pid_t connector_ = -1;
    std::optional<Publish> publish_;
    base::Fd server_;
    uint16_t jail_port_ = 0, host_port_ = 0;
};

TEST_F(PublishTest, LeadsAVisitorToTheServerInside) {
    publish();
    Peer visitor = visit();
    visitor.send("hello");
    Peer server = accept();
    EXPECT_TRUE(hears(server, "hello"));
    server.send("welcome");
    EXPECT_TRUE(hears(visitor, "welcome"));
    visitor.close();
    EXPECT_TRUE(is_over(server));
    server.close();
    ASSERT_TRUE(run_until(world_.loop, [&] { return !world_.record().empty(); }));
    base::Json line = world_.record().front();
    EXPECT_EQ(line.text("kind"), "publish");
    EXPECT_EQ(line.text("verdict"), "allow");
    EXPECT_EQ(line.number("port"), jail_port_);
    EXPECT_EQ(line.number("received"), 5);
    EXPECT_EQ(line.number("sent"), 7);
}

TEST_F(PublishTest, ClosesWhereNobodyListensInside) {
    // Publish first: publish() could select the server's port once it is free.
    publish();
    server_.reset();
    Peer visitor = visit();
    EXPECT_TRUE(is_over(visitor));
    ASSERT_TRUE(run_until(world_.loop, [&] { return !world_.record().empty(); }));
    EXPECT_EQ(world_.record().front().text("verdict"), "deny");
    EXPECT_EQ(world_.record().front().text("cause"), "unreachable");
}

TEST_F(PublishTest, RecordsWhatIsStillOpenWhenItGoes) {
    publish();
    Peer visitor = visit();
    visitor.send("hello");
    Peer server = accept();
    EXPECT_TRUE(hears(server, "hello"));
    publish_.reset();
    ASSERT_EQ(world_.record().size(), 1u);
    EXPECT_EQ(world_.record().front().number("received"), 5);
}

TEST_F(PublishTest, EndsOnePortWithItsVisits) {
    publish();
    uint16_t ended = host_port_;
    Peer visitor = visit();
    visitor.send("hello");
    Peer server = accept();
    EXPECT_TRUE(hears(server, "hello"));
    publish();
    EXPECT_FALSE(publish_->end(1));
    EXPECT_TRUE(publish_->end(ended));
    EXPECT_FALSE(publish_->end(ended)) << "only once";
    EXPECT_TRUE(is_over(visitor));
    EXPECT_TRUE(is_over(server));
    EXPECT_EQ(world_.record().size(), 1u);
    EXPECT_FALSE(connect_to_loopback(ended));
    Peer other = visit();
    other.send("the other port");
    Peer second = accept();
    EXPECT_TRUE(hears(second, "the other port"));
}

TEST_F(PublishTest, APortThatIsTakenIsAnErrorWithItsPlace) {
    base::Result<std::vector<base::Fd>> listeners =
        Publish::open({{.host_port = jail_port_, .jail_port = 80, .origin = config::from_flag("--publish")}});
    ASSERT_FALSE(listeners);
    EXPECT_NE(listeners.error().what.find(std::to_string(jail_port_)), std::string::npos);
    EXPECT_EQ(listeners.error().where, "--publish");
}

TEST_F(PublishTest, ListensOnLoopbackAlone) {
    base::Result<std::vector<base::Fd>> listeners = Publish::open({{.host_port = 0, .jail_port = 80}});
    ASSERT_TRUE(listeners);
    EXPECT_EQ(own_endpoint(listeners->front().get())->address, Address::from_v4({127, 0, 0, 1}));
}

// Without free descriptors it waits instead of calling accept again and again, and continues when some are
// free.
TEST_F(PublishTest, WaitsWhenThereAreNoDescriptors) {
    publish();
    Peer visitor = visit();
    struct rlimit before;
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit none = {.rlim_cur = 3, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    int rounds = 0;
    auto end = base::EventLoop::Clock::now() + std::chrono::milliseconds(60);
    while (base::EventLoop::Clock::now() < end) {
        world_.loop.turn(std::chrono::milliseconds(60));
        ++rounds;
    }
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_LT(rounds, 10);
    visitor.send("patient");
    Peer server = accept();
    EXPECT_TRUE(hears(server, "patient"));
}

}  // namespace
}  // namespace network::gateway
