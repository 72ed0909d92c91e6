// SPDX-License-Identifier: MIT
#include "network/wire/protocol_guess.h"

#include <gtest/gtest.h>

#include "verdicts.h"

namespace network::wire {
namespace {

std::string guess(std::string_view input) {
    return agreed(guess_verdict, input);
}

std::string at_end(std::string_view input) {
    ProtocolGuess guess;
    guess.take(input);
    return guess.at_end() == Protocol::http1 ? "HTTP/1" : "other";
}

TEST(ProtocolGuess, KnowsOpenings) {
    EXPECT_EQ(guess("\x16\x03\x01"), "TLS");
    EXPECT_EQ(guess("SSH-2.0-OpenSSH_9.2 Debian-2\r\n"), "SSH");
    EXPECT_EQ(guess("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "HTTP/2");
    EXPECT_EQ(guess(bytes("00 00 00 08 04 d2 16 2f")), "PostgreSQL");
    EXPECT_EQ(guess(bytes("00 00 00 08 04 d2 16 30")), "PostgreSQL");
    EXPECT_EQ(guess("0033git-upload-pack /a.git"), "git");
}

TEST(ProtocolGuess, TakesEveryRecordForTls) {
    for (const char* record :
         {"14 03 03 00 01 01", "15 03 01 00 02 01 00", "16 03 00", "17 03 03", "18 03 04"})
        EXPECT_EQ(guess(bytes(record)), "TLS") << record;
    // Go accepts every version below 0x1000, in an alert and in a hello; Java accepts every version.
    EXPECT_EQ(guess(bytes("16 ff ff 00 40 01 00")), "TLS");
    EXPECT_EQ(guess(bytes("16 02 00 00 00 16 03")), "TLS") << "an empty record, and the next";
    EXPECT_EQ(guess(bytes("16 01 00 00 07 00 00 00 00 00 00 00")), "undecided")
        << "MongoDB: a length, a number";
    EXPECT_EQ(guess(bytes("15 01 00 00 02 01 00")), "TLS");
    EXPECT_EQ(guess(bytes("16 0f ff 02 00 01 00")), "TLS");
    EXPECT_EQ(guess(bytes("16 01 41 20 0a 01 00")), "TLS") << "a length that ends a line";
    EXPECT_EQ(guess(bytes("80 2e 01 03 01 00 15")), "SSL 2");
    EXPECT_EQ(guess(bytes("80 2e 01 00 02 00 15")), "SSL 2");
}

TEST(ProtocolGuess, KnowsRequestsByTheirVersion) {
    EXPECT_EQ(guess("GET / HTTP/1.1\r\n"), "HTTP/1");
    EXPECT_EQ(guess("CONNECT a.b:443 HTTP/1.1\r\n"), "HTTP/1");
    EXPECT_EQ(guess("anything / HTTP/1.0\r\n"), "HTTP/1") << "servers answer to unknown methods";
    EXPECT_EQ(guess("GET / HTTP/1.1\n"), "HTTP/1") << "the reader refuses it then";
    EXPECT_EQ(guess("SSHX / HTTP/1.1\r\n"), "HTTP/1") << "an opening that comes to nothing";
    EXPECT_EQ(guess("SSH-2.0-x / HTTP/1.1\r\n"), "HTTP/1") << "a method that looks like an identification";
    EXPECT_EQ(guess("GET / SIP/2.0\r\n"), "HTTP/1") << "Netty reads it";
    EXPECT_EQ(guess("{}\t x any/1.0\n"), "HTTP/1") << "Netty reads it";
    EXPECT_EQ(guess("a\tb /x y\r\n"), "HTTP/1") << "Java reads it";
    EXPECT_EQ(guess("SOURCE / ICE/1.0\r\n"), "HTTP/1") << "Node reads it";
    EXPECT_EQ(guess("OPTIONS / RTSP/1.0\r\n"), "HTTP/1") << "Node reads it";
    EXPECT_EQ(guess("GET /" + std::string(kMaximumGuessBytes, 'x')), "HTTP/1")
        << "the reader refuses it then";
}

TEST(ProtocolGuess, SkipsWhatServersSkipBeforeARequest) {
    for (std::string_view junk :
         {std::string_view("\x01"), std::string_view("\r\n\0", 3), std::string_view("\x05"),
          std::string_view("\x7f\x80\x9f"), std::string_view("\xef\xbb\xbf"), std::string_view(" \t\v\f"),
          std::string_view("\x16\x02")})
        EXPECT_EQ(guess(std::string(junk) + "GET / HTTP/1.1\r\n"), "HTTP/1");
    for (const char* line : {"GET\x1c/\x1cHTTP/1.1\r\n", "GET\xa0/\x85http/1.1\r\n", "GET\r/\rHTTP/1.1\n",
                             "{} / HTTP/1.1\r\n", "G\x01T / HTTP/1.1\r\n", "\x01 / HTTP/1.1\r\n"})
        EXPECT_EQ(guess(line), "HTTP/1") << line;
    EXPECT_EQ(guess("PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\n"), "PROXY header");
    EXPECT_EQ(guess(std::string_view("\r\n\r\n\0\r\nQUIT\n\x21", 13)), "PROXY header");
}

TEST(ProtocolGuess, KnowsRequestsWithoutAVersion) {
    for (const char* line :
         {"GET /\r\n", "GET x\n", "POST / \n", "OPTIONS *\n", "POST xyz://other/\r", "GET /\r"})
        EXPECT_EQ(guess(line), "HTTP/1") << line;
    for (const char* line :
         {"get /key\r\n", "CWD pub\r\n", "USER me\r\n", "EHLO here\r\n", "a1 LOGIN /x y\r\n"})
        EXPECT_EQ(guess(line), "other") << line;
    EXPECT_EQ(at_end("GET http://other/"), "HTTP/1");
    EXPECT_EQ(at_end("hello there"), "other");
}

TEST(ProtocolGuess, KnowsWhatIsNone) {
    EXPECT_EQ(guess("NICK me\r\n"), "other");
    EXPECT_EQ(guess("PING\r\n"), "other");
    EXPECT_EQ(guess("*1\r\n$4\r\nPING\r\n"), "other");
    EXPECT_EQ(guess("@RSYNCD: 31.0\n"), "other");
    EXPECT_EQ(guess("set /key 0 0 5\r\n"), "HTTP/1") << "Java reads it";
    EXPECT_EQ(guess("set key 0 0 5\r\n"), "other");
    EXPECT_EQ(guess("@RSYNCD: 31.0 32.0 sha512/md5\n"), "other");
    EXPECT_EQ(guess("USER me 0 * :Me\r\n"), "other");
}

TEST(ProtocolGuess, WaitsWhereMoreCouldDecide) {
    for (std::string_view start :
         {"", "\x16", "S", "SSH", "P", "PRI * HTTP", "GET", "GET ", "GET / HTTP", "\x05\x01"})
        EXPECT_EQ(guess(start), "undecided") << start;
}

TEST(ProtocolGuess, DecidesAtOnceWhereItIsStrict) {
    EXPECT_EQ(ProtocolGuess(true).take("\x01"), Protocol::other);
    EXPECT_EQ(ProtocolGuess(true).take("\x14\x09"), Protocol::other);
    EXPECT_EQ(ProtocolGuess(true).take("\x16"), Protocol::undecided);
    EXPECT_EQ(ProtocolGuess(true).take("GET"), Protocol::undecided);
}

}  // namespace
}  // namespace network::wire
