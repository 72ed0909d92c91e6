// SPDX-License-Identifier: MIT
#include "network/gateway/relay/relay.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include "tcp_world.h"

namespace network::gateway {
namespace {

struct RelayTest : testing::Test {
    RelayTest() { EXPECT_TRUE(loop.open()); }

    void begin(Pending pending = {}) {
        auto [near_first, far_first] = tcp_pair();
        auto [near_second, far_second] = tcp_pair();
        client = Peer(std::move(near_first));
        server = Peer(std::move(near_second));
        relay = std::make_unique<Relay>(loop, pipes, std::move(far_first), std::move(far_second),
                                        std::move(pending), [this](const Relay::Counts& final) {
                                            counts = final;
                                            relay.reset();
                                        });
    }
    bool hears(Peer& peer, std::string_view text) {
        return run_until(loop, [&] { return peer.poll(), peer.received == text; });
    }
    bool is_done() {
        return run_until(loop, [&] { return relay == nullptr; });
    }

    base::EventLoop loop;
    PipePool pipes;
    Peer client, server;
    std::unique_ptr<Relay> relay;
    Relay::Counts counts;
};

TEST_F(RelayTest, CarriesBytesBothWaysAndCountsThem) {
    begin();
    client.send("question");
    EXPECT_TRUE(hears(server, "question"));
    server.send("a longer answer");
    EXPECT_TRUE(hears(client, "a longer answer"));
    client.close();
    EXPECT_TRUE(run_until(loop, [&] { return server.poll(), server.has_ended; }));
    server.close();
    EXPECT_TRUE(is_done());
    EXPECT_EQ(counts.from_first, 8u);
    EXPECT_EQ(counts.from_second, 15u);
}

TEST_F(RelayTest, SendsWhatWasReadBeforeItBegan) {
    begin({.to_first = "greeting", .to_second = "request"});
    EXPECT_TRUE(hears(client, "greeting"));
    EXPECT_TRUE(hears(server, "request"));
}

TEST_F(RelayTest, PassesAHalfCloseOn) {
    begin();
    client.send("all I have");
    client.end_writing();
    EXPECT_TRUE(run_until(loop, [&] { return server.poll(), server.has_ended; }));
    EXPECT_EQ(server.received, "all I have");
    server.send("answer to a closed writer");
    EXPECT_TRUE(hears(client, "answer to a closed writer"));
    EXPECT_FALSE(client.has_ended);
    server.end_writing();
    EXPECT_TRUE(run_until(loop, [&] { return client.poll(), client.has_ended; }));
    EXPECT_TRUE(is_done());
}

TEST_F(RelayTest, PassesAResetOnInBothDirections) {
    begin();
    client.reset();
    EXPECT_TRUE(run_until(loop, [&] { return server.poll(), server.was_reset || server.has_ended; }));
    EXPECT_TRUE(server.was_reset);
    EXPECT_TRUE(is_done());
    begin();
    server.reset();
    EXPECT_TRUE(run_until(loop, [&] { return client.poll(), client.was_reset || client.has_ended; }));
    EXPECT_TRUE(client.was_reset);
    EXPECT_TRUE(is_done());
}

TEST_F(RelayTest, SeesAResetAfterAHalfClose) {
    begin();
    client.end_writing();
    EXPECT_TRUE(run_until(loop, [&] { return server.poll(), server.has_ended; }));
    client.reset();
    EXPECT_TRUE(is_done());
}

TEST_F(RelayTest, DeliversWhatCameBeforeAReset) {
    begin();
    server.send("the last words");
    server.reset();
    EXPECT_TRUE(run_until(loop, [&] { return client.poll(), client.was_reset; }));
    EXPECT_EQ(client.received, "the last words");
}

// 64 MB to a peer that does not read: the relay reads a bounded amount from the writer, and no byte is lost
// or reordered.
TEST_F(RelayTest, StopsReadingForAReaderThatDoesNot) {
    begin();
    constexpr size_t kAll = 64 << 20;
    constexpr size_t kPeriod = 65521;  // a prime: no buffer's size divides it
    std::string pattern(kPeriod * 2, '\0');
    for (size_t i = 0; i < pattern.size(); ++i)
        pattern[i] = static_cast<char>(i % kPeriod * 2654435761u >> 13);
    size_t written = 0;
    auto write_more = [&] {
        for (;;) {
            size_t wanted = std::min(kPeriod, kAll - written);
            size_t sent = wanted == 0 ? 0 : server.send({pattern.data() + written % kPeriod, wanted});
            written += sent;
            if (sent == 0) return;
        }
    };
    struct mallinfo2 before = mallinfo2();
    size_t last = SIZE_MAX;
    for (int quiet = 0; quiet < 20; quiet = written == last ? quiet + 1 : 0) {
        last = written;
        write_more();
        loop.turn(std::chrono::milliseconds(1));
    }
    EXPECT_LT(written, 32u << 20) << "somebody keeps what is not read";
    EXPECT_LT(mallinfo2().uordblks, before.uordblks + (512 << 10));
    size_t read = 0;
    bool is_same = true;
    std::vector<char> buffer(1 << 16);
    EXPECT_TRUE(run_until(
        loop,
        [&] {
            write_more();
            if (written == kAll) server.end_writing();
            ssize_t count;
            while ((count = ::recv(client.fd(), buffer.data(), buffer.size(), 0)) > 0) {
                for (ssize_t at = 0; at < count;) {
                    size_t piece = std::min<size_t>(static_cast<size_t>(count - at), kPeriod);
                    is_same &= std::equal(buffer.data() + at, buffer.data() + at + piece,
                                          pattern.data() + read % kPeriod);
                    at += static_cast<ssize_t>(piece);
                    read += piece;
                }
            }
            return count == 0;
        },
        std::chrono::seconds(120)));
    EXPECT_EQ(read, kAll);
    EXPECT_TRUE(is_same);
}

TEST_F(RelayTest, KeepsNeitherPipeNorBufferWhileIdle) {
    begin();
    size_t before = open_descriptors();
    std::string much(4 << 20, 'x');
    size_t sent = 0;
    EXPECT_TRUE(run_until(loop, [&] {
        sent += server.send(std::string_view(much).substr(sent));
        client.poll();
        return client.received.size() == much.size();
    }));
    loop.turn(std::chrono::milliseconds(1));
    // The pipe is back in the pool, for the next stream.
    EXPECT_EQ(open_descriptors(), before + 2);
    EXPECT_TRUE(pipes.take());
}

TEST_F(RelayTest, CostsLittleWhileIdle) {
    constexpr size_t kRelays = 200;
    std::vector<Peer> peers;
    std::vector<std::unique_ptr<Relay>> relays;
    size_t before = mallinfo2().uordblks;
    for (size_t i = 0; i < kRelays; ++i) {
        auto [near_first, far_first] = tcp_pair();
        auto [near_second, far_second] = tcp_pair();
        relays.push_back(std::make_unique<Relay>(loop, pipes, std::move(far_first), std::move(far_second),
                                                 Pending{}, [](const Relay::Counts&) {}));
        peers.emplace_back(std::move(near_first));
        peers.back().send(std::string(1000, 'x'));
        peers.emplace_back(std::move(near_second));
    }
    for (int i = 0; i < 5; ++i) loop.turn(std::chrono::milliseconds(1));
    EXPECT_LT((mallinfo2().uordblks - before) / kRelays, 4096u);
}

TEST_F(RelayTest, LetsOthersHaveTheirTurn) {
    begin();
    bool is_stopped = false;
    // Both ends of the stream are always ready, and the timer still runs.
    auto timer = loop.after(std::chrono::milliseconds(30), [&] { is_stopped = true; });
    std::string much(1 << 20, 'x');
    EXPECT_TRUE(run_until(loop, [&] {
        server.send(much);
        client.poll();
        client.received.clear();
        return is_stopped;
    }));
    loop.cancel(timer);
}

TEST_F(RelayTest, MayBeDestroyedAtAnyTime) {
    begin();
    client.reset();
    loop.turn(std::chrono::milliseconds(1));
    relay.reset();
    begin();
    client.send("x");
    relay.reset();
    loop.turn(std::chrono::milliseconds(1));
    EXPECT_TRUE(run_until(loop, [&] { return server.poll(), server.has_ended || server.was_reset; }));
}

}  // namespace
}  // namespace network::gateway
