// SPDX-License-Identifier: MIT
#include "network/wire/http/http_exchange.h"

#include <gtest/gtest.h>

#include "verdicts.h"

namespace network::wire {
namespace {

std::string verdict(std::string_view input) {
    return agreed(response_verdict, input);
}

TEST(HttpResponse, GivesStatusAndEnd) {
    EXPECT_EQ(verdict("HTTP/1.1 200 Connection established\r\n\r\n\x16\x03"), "200 after 39");
    EXPECT_EQ(verdict("HTTP/1.0 407\r\nProxy-Authenticate: Basic\r\n\r\n"), "407 after 43");
    EXPECT_EQ(verdict("HTTP/1.1 101 \r\n\r\n"), "101 after 17");
    EXPECT_EQ(verdict("HTTP/1.1 200 OK\r\n"), "need more");
}

TEST(HttpResponse, RefusesEverythingElse) {
    constexpr std::string_view kStatus = "refused: the response does not start with an HTTP/1 status";
    for (std::string_view line :
         {"HTTP/2 200 OK", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 099 x", "HTTP/1.1 600 x",
          "HTTP/1.1  200", "HTTP/1.2 200", "HTTP/1.1 2x0", "ICY 200 OK", "x"}) {
        EXPECT_EQ(verdict(std::string(line) + "\r\n\r\n"), kStatus) << line;
    }
    EXPECT_EQ(verdict("HTTP/1.1 200 OK\n"), "refused: a line of the head ends with LF alone");
    EXPECT_EQ(verdict("HTTP/1.1 200 " + std::string(kMaximumHead, 'x')),
              "refused: the head is longer than 16 KiB");
}

}  // namespace
}  // namespace network::wire
