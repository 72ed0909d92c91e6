// SPDX-License-Identifier: MIT
#include "network/gateway/control/supervision.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "tcp_world.h"

namespace network::gateway {
namespace {

class GatewayControl : public ::testing::Test {
  protected:
    GatewayControl() : steering_(world.steering()) {
        int pair[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
        supervisor_ = base::Fd(pair[0]);
        supervision.emplace(world.context(), base::Fd(pair[1]));
        supervision->steer(&steering_);
    }

    void order(const Order& order, int descriptor = -1) {
        std::vector<int> passed;
        if (descriptor >= 0) passed.push_back(descriptor);
        EXPECT_TRUE(base::send_descriptors(supervisor_.get(), encode(order), passed));
        world.turn(2);
    }
    std::string received_note() {
        base::Result<base::PassedDescriptors> passed = base::receive_descriptors(supervisor_.get());
        return passed ? passed->note : "";
    }
    Reply received_reply() {
        std::optional<Reply> reply = decode_reply(received_note());
        EXPECT_TRUE(reply);
        return reply.value_or(Reply{});
    }
    static base::Fd rules(const EngineSettings& settings) {
        return *base::memory_file("rules", encode_settings(settings, {15}));
    }

    TcpWorld world;
    std::optional<Supervision> supervision;
    base::Fd supervisor_;

  private:
    Steering steering_;
};

TEST_F(GatewayControl, TakesRules) {
    Peer client = world.connect(world.inside("example.org", 22));
    Peer server = world.accept();
    base::Fd file = rules({.block = items({"example.org"})});
    order({.kind = Order::Kind::rules, .number = 7}, file.get());
    Reply reply = received_reply();
    EXPECT_EQ(reply.ticket, 7u);
    EXPECT_EQ(reply.text, "1");
    EXPECT_EQ(reply.failure, "");
    EXPECT_EQ(world.context().egress.passed_types, std::vector<uint16_t>{15});
}

TEST_F(GatewayControl, SaysWhyRulesAreNotTaken) {
    base::Fd file = rules({.block = items({"not an entry"})});
    order({.kind = Order::Kind::rules, .number = 8}, file.get());
    Reply reply = received_reply();
    EXPECT_EQ(reply.ticket, 8u);
    EXPECT_NE(reply.failure.find("not an entry"), std::string::npos) << reply.failure;
    order({.kind = Order::Kind::rules, .number = 9});
    reply = received_reply();
    EXPECT_EQ(reply.ticket, 9u);
    EXPECT_EQ(reply.failure, "the rules did not arrive");
}

TEST_F(GatewayControl, PassesASocketOfTheJailsNetwork) {
    order({.kind = Order::Kind::socket, .number = 4});
    EXPECT_EQ(received_reply().failure, "the gateway has no socket in the jail's network");
    base::Fd inside = bound_socket(SOCK_STREAM, "127.0.0.1", 0);
    PipePool pipes;
    Publish publish(world.context(), pipes, {});
    supervision->publish_by(&publish, inside.get());
    order({.kind = Order::Kind::socket, .number = 5});
    base::Result<base::PassedDescriptors> passed = base::receive_descriptors(supervisor_.get());
    ASSERT_TRUE(passed);
    EXPECT_EQ(decode_reply(passed->note)->ticket, 5u);
    ASSERT_EQ(passed->descriptors.size(), 1u);
    EXPECT_EQ(own_endpoint(passed->descriptors[0].get())->port, own_endpoint(inside.get())->port);
    supervision->publish_by(nullptr, -1);
}

TEST_F(GatewayControl, PublishesPortsAndEndsThem) {
    PipePool pipes;
    Publish publish(world.context(), pipes, {});
    supervision->publish_by(&publish, -1);
    base::Fd listener = bound_socket(SOCK_STREAM, "127.0.0.1", 0);
    uint16_t port = own_endpoint(listener.get())->port;
    std::string text = std::to_string(port);
    order({.kind = Order::Kind::publish, .number = 1, .reason = text}, listener.get());
    EXPECT_EQ(received_reply().failure, "the port did not arrive") << "there is no connector yet";
    for (const char* damaged : {"", "x", "0", "1:2:3"}) {
        order({.kind = Order::Kind::publish, .number = 1, .reason = damaged}, listener.get());
        EXPECT_EQ(received_reply().failure, "the port did not arrive") << damaged;
    }
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    base::Fd connector(pair[0]), other(pair[1]);
    int passed[] = {listener.get(), connector.get()};
    Order both{.kind = Order::Kind::publish, .number = 2, .reason = text};
    EXPECT_TRUE(base::send_descriptors(supervisor_.get(), encode(both), passed));
    world.turn(2);
    EXPECT_EQ(received_reply().failure, "");
    EXPECT_TRUE(publish.has_connector());
    for (const char* wrong : {"", "x", "1"}) {
        order({.kind = Order::Kind::unpublish, .number = 3, .reason = wrong});
        EXPECT_EQ(received_reply().failure, "the port is not published") << wrong;
    }
    order({.kind = Order::Kind::unpublish, .number = 4, .reason = text});
    EXPECT_EQ(received_reply().failure, "");
    supervision->publish_by(nullptr, -1);
}

TEST_F(GatewayControl, WritesItsState) {
    base::Fd file(::memfd_create("state", MFD_CLOEXEC));
    order({.kind = Order::Kind::state, .number = 3}, file.get());
    Reply reply = received_reply();
    EXPECT_EQ(reply.ticket, 3u);
    EXPECT_EQ(reply.failure, "");
    ::lseek(file.get(), 0, SEEK_SET);
    base::Result<base::Json> state = base::Json::parse(*base::read_descriptor(file.get()));
    ASSERT_TRUE(state);
    EXPECT_EQ(state->number("connection_count", -1), 0);
}

TEST_F(GatewayControl, GoesOnInTheNextPartOfTheRecord) {
    base::Fd part(::memfd_create("part", MFD_CLOEXEC));
    order({.kind = Order::Kind::journal}, part.get());
    Peer refused = world.connect(TcpWorld::literal("192.0.2.1", 80));
    world.turn();
    EXPECT_EQ(world.lines(), "");
    EXPECT_GT(::lseek(part.get(), 0, SEEK_END), 0);
}

TEST_F(GatewayControl, HandsTheUsersAnswerOn) {
    EngineSettings settings{.is_asking = true};
    base::Fd file = rules(settings);
    order({.kind = Order::Kind::rules, .number = 1}, file.get());
    EXPECT_EQ(received_reply().text, "0");
    Peer client = world.connect(world.inside("example.org", 80));
    client.send(get("example.org"));
    world.turn();
    order({.kind = Order::Kind::deny, .number = 1, .reason = "not now"});
    EXPECT_TRUE(world.hears(client, "the user denied it: not now"));
}

TEST_F(GatewayControl, EndsWhenItIsToldTo) {
    order({.kind = Order::Kind::end});
    EXPECT_TRUE(supervision->is_asked_to_end());
}

TEST_F(GatewayControl, EndsWithItsSupervisor) {
    supervisor_.reset();
    world.turn(2);
    EXPECT_FALSE(supervision->is_asked_to_end());
}

}  // namespace
}  // namespace network::gateway
