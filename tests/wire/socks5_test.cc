// SPDX-License-Identifier: MIT
#include "network/wire/socks5.h"

#include <gtest/gtest.h>

#include "verdicts.h"

namespace network::wire {
namespace {

std::string verdict(std::string_view hexadecimal_input) {
    return agreed(socks5_verdict, bytes(hexadecimal_input));
}

std::string failure(std::string_view code) {
    return "sends 0500"
           "05" +
           std::string(code) + "0001000000000000";
}

TEST(Socks5, ReadsEveryKindOfAddress) {
    EXPECT_EQ(verdict("05 01 00 05 01 00 03 03 612e62 01bb"), "sends 0500, name=a.b port=443 after 13");
    EXPECT_EQ(verdict("05 02 02 00 05 01 00 01 c6120001 0016"), "sends 0500, ipv4=c6120001 port=22 after 14");
    EXPECT_EQ(verdict("05 01 00 05 01 00 04 20010db8000000000000000000000001 0050"),
              "sends 0500, ipv6=20010db8000000000000000000000001 port=80 after 25");
}

TEST(Socks5, LeavesTheClientsOwnDataAlone) {
    EXPECT_EQ(verdict("05 01 00 05 01 00 03 01 61 0050 474554"), "sends 0500, name=a port=80 after 11");
}

TEST(Socks5, AnswersTheGreetingBeforeTheRequest) {
    EXPECT_EQ(verdict("05"), "sends , need more");
    EXPECT_EQ(verdict("05 02 00"), "sends , need more");
    EXPECT_EQ(verdict("05 01 00"), "sends 0500, need more");
    EXPECT_EQ(verdict("05 01 00 05 01 00 03 05 6161"), "sends 0500, need more");
}

TEST(Socks5, RefusesTheGreeting) {
    EXPECT_EQ(verdict("04 01"), "sends , refused: this is not SOCKS5");
    EXPECT_EQ(verdict("05 02 01 02"), "sends 05ff, refused: the client insists on authentication");
    EXPECT_EQ(verdict("05 00"), "sends 05ff, refused: the client insists on authentication");
}

TEST(Socks5, RefusesWithTheRightCode) {
    EXPECT_EQ(verdict("05 01 00 05 02"),
              failure("07") + ", refused: only CONNECT is served, no BIND, no UDP");
    EXPECT_EQ(verdict("05 01 00 05 03"),
              failure("07") + ", refused: only CONNECT is served, no BIND, no UDP");
    EXPECT_EQ(verdict("05 01 00 05 01 00 02"), failure("08") + ", refused: the kind of address is unknown");
    EXPECT_EQ(verdict("05 01 00 05 01 01"), failure("01") + ", refused: the reserved byte is not zero");
    EXPECT_EQ(verdict("05 01 00 01"), failure("01") + ", refused: the request is not SOCKS5");
    EXPECT_EQ(verdict("05 01 00 05 01 00 03 03 612062 0050"),
              failure("01") + ", refused: the name is not a host name");
    EXPECT_EQ(verdict("05 01 00 05 01 00 03 00 0050"),
              failure("01") + ", refused: the name is not a host name");
    EXPECT_EQ(verdict("05 01 00 05 01 00 03 01 61 0000"), failure("01") + ", refused: the port is zero");
}

TEST(Socks5, TellsNothingOfTheHostInItsReply) {
    EXPECT_EQ(hexadecimal(socks5_reply(Socks5Code::succeeded)), "05000001000000000000");
    EXPECT_EQ(hexadecimal(socks5_reply(Socks5Code::not_allowed)), "05020001000000000000");
}

}  // namespace
}  // namespace network::wire
