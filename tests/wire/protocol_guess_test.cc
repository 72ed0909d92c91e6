// SPDX-License-Identifier: MIT
#include "network/wire/protocol_guess.h"

#include <gtest/gtest.h>

#include "verdicts.h"

namespace network::wire {
namespace {

std::string guess(std::string_view input) {
    return agreed(guess_verdict, input);
}

TEST(ProtocolGuess, KnowsOpenings) {
    EXPECT_EQ(guess("\x16\x03\x01"), "TLS");
    EXPECT_EQ(guess("SSH-2.0-OpenSSH_9.2\r\n"), "SSH");
    EXPECT_EQ(guess("\x05\x01"), "SOCKS5");
    EXPECT_EQ(guess("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "HTTP/2");
}

TEST(ProtocolGuess, KnowsRequestsByTheEndOfTheirLine) {
    EXPECT_EQ(guess("GET / HTTP/1.1\r\n"), "HTTP/1");
    EXPECT_EQ(guess("CONNECT a.b:443 HTTP/1.1\r\n"), "HTTP/1");
    EXPECT_EQ(guess("anything / HTTP/1.0\r\n"), "HTTP/1") << "servers answer to unknown methods";
    EXPECT_EQ(guess("GET / HTTP/1.1\n"), "HTTP/1") << "the reader refuses it then";
    EXPECT_EQ(guess("SSHX / HTTP/1.1\r\n"), "HTTP/1") << "an opening that comes to nothing";
    EXPECT_EQ(guess("GET /" + std::string(kMaximumGuessBytes, 'x')), "HTTP/1")
        << "the reader refuses it then";
}

TEST(ProtocolGuess, KnowsWhatIsNone) {
    EXPECT_EQ(guess("NICK me\r\n"), "other");
    EXPECT_EQ(guess("PING\r\n"), "other");
    EXPECT_EQ(guess(bytes("00 00 00 08 04 d2 16 2f")), "other") << "PostgreSQL asks for TLS";
    EXPECT_EQ(guess("\x16\x02"), "other");
    EXPECT_EQ(guess("\x04\x01"), "other");
    EXPECT_EQ(guess(" GET / HTTP/1.1\r\n"), "other");
    EXPECT_EQ(guess(std::string(33, 'A')), "other");
}

TEST(ProtocolGuess, WaitsWhereMoreCouldDecide) {
    for (std::string_view start :
         {"", "\x16", "S", "SSH", "P", "PRI * HTTP/2.0\r", "GET", "GET ", "GET / HTTP/1.1\r"}) {
        EXPECT_EQ(guess(start), "undecided") << start;
    }
}

}  // namespace
}  // namespace network::wire
