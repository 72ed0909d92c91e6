// SPDX-License-Identifier: MIT
#include "network/gateway/connections/acceptor.h"

#include <gtest/gtest.h>

#include "base/process/descriptors.h"
#include "doorman/handoff/connect_handoff.h"
#include "tcp_world.h"

namespace network::gateway {
namespace {

// Acts as the stage: it has accepted a connection and passes it to the gateway.
class Stage {
  public:
    explicit Stage(TcpWorld& world) {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        socket_ = base::Fd(ends[0]);
        acceptor_.emplace(world.context(), world.acceptor(), base::Fd(ends[1]));
    }

    Peer hand_over(std::string_view note) {
        auto [near, far] = tcp_pair();
        int descriptor = far.get();
        EXPECT_TRUE(base::send_descriptors(socket_.get(), note, std::span(&descriptor, 1)));
        return Peer(std::move(near));
    }
    void leave() { socket_.reset(); }
    const PassedAcceptor& acceptor() const { return *acceptor_; }

  private:
    base::Fd socket_;
    std::optional<PassedAcceptor> acceptor_;
};

std::string note_for(const Endpoint& endpoint) {
    return "tcp " + endpoint.address.str() + " " + std::to_string(endpoint.port);
}

TEST(PassedAcceptor, ServesAConnectionLikeOneOfItsOwn) {
    TcpWorld world;
    Stage stage(world);
    Peer client = stage.hand_over(note_for(world.inside("example.org", 443)));
    client.send(client_hello("example.org"));
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(server, client_hello("example.org")));
    EXPECT_EQ(world.dialled().front(), TcpWorld::literal("203.0.113.10", 443));
    server.send("sealed");
    EXPECT_TRUE(world.hears(client, "sealed"));
}

TEST(PassedAcceptor, JudgesLoopbackByTheRules) {
    TcpWorld world;
    Stage stage(world);
    Peer client = stage.hand_over("tcp 127.0.0.1 80");
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_TRUE(world.hears(client, "403"));
    EXPECT_TRUE(world.dialled().empty());
}

TEST(PassedAcceptor, IsAProxyAtItsOwnAddress) {
    TcpWorld world;
    Stage stage(world);
    Peer client = stage.hand_over(note_for(TcpWorld::gateway()));
    client.send("CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n");
    Peer server = world.accept();
    EXPECT_TRUE(world.hears(client, "200"));
}

TEST(PassedAcceptor, AnswersQuestionsForNamesAtAnyAddress) {
    TcpWorld world;
    Stage stage(world);
    Peer client = stage.hand_over("tcp 192.0.2.53 53");
    constexpr char kQuestion[] =
        "\0\x1d\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x07"
        "example\x03"
        "org\0\0\x01\0\x01";
    client.send(std::string(kQuestion, sizeof kQuestion - 1));
    EXPECT_TRUE(world.hears(client, "example"));
    ASSERT_GT(client.received.size(), 10u);
    EXPECT_EQ(client.received[5] & 0xf, 0) << "an error";
    EXPECT_GE(client.received[9], 1) << "no answer";
}

TEST(PassedAcceptor, PassesOverWhatItCannotRead) {
    TcpWorld world;
    Stage stage(world);
    for (const char* note :
         {"tcp", "udp 192.0.2.1 1", "tcp 192.0.2.1 70000", "tcp nowhere 1", "tcp ::1 1 1"}) {
        Peer client = stage.hand_over(note);
        EXPECT_TRUE(world.is_ended(client)) << note;
    }
    EXPECT_TRUE(stage.acceptor().is_open());
}

TEST(PassedAcceptor, ClosesWhenTheStageIsGone) {
    TcpWorld world;
    Stage stage(world);
    Peer client = stage.hand_over(note_for(world.inside("example.org", 22)));
    stage.leave();
    Peer server = world.accept();
    EXPECT_TRUE(world.until([&] { return !stage.acceptor().is_open(); }));
    // The connection that the stage passed before continues.
    server.send("SSH-2.0-server\r\n");
    EXPECT_TRUE(world.hears(client, "SSH-2.0-server\r\n"));
}

}  // namespace
}  // namespace network::gateway
