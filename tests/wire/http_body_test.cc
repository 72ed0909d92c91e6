// SPDX-License-Identifier: MIT
#include "network/wire/http/http_exchange.h"

#include <gtest/gtest.h>

#include "verdicts.h"

namespace network::wire {
namespace {

std::string chunked(std::string_view input) {
    return agreed(chunked_verdict, input);
}

TEST(HttpBody, OfAKnownLengthEndsThere) {
    HttpRequest request;
    request.body = HttpRequest::Body::sized;
    request.length = 5;
    HttpBody body(request);
    EXPECT_EQ(body.take("abc"), 3u);
    EXPECT_EQ(body.state(), HttpBody::State::open);
    EXPECT_EQ(body.take("deGET / HTTP/1.1"), 2u);
    EXPECT_EQ(body.state(), HttpBody::State::complete);
    EXPECT_EQ(body.take("x"), 0u);
}

TEST(HttpBody, ThatIsAbsentIsComplete) {
    HttpBody body{HttpRequest{}};
    EXPECT_EQ(body.state(), HttpBody::State::complete);
    EXPECT_EQ(body.take("GET"), 0u);
}

TEST(HttpBody, InChunksEndsAfterTheLast) {
    EXPECT_EQ(chunked("5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1"), "complete after 15");
    EXPECT_EQ(chunked("A\r\n0123456789\r\n00\r\nX: y\r\nZ: a\r\n\r\n"), "complete after 33");
    EXPECT_EQ(chunked("5\r\nhello\r\n0\r\n"), "open after 13");
    EXPECT_EQ(chunked("11\r\n0\r\n\r\nGET / HTTP\r\n"), "open after 21") << "what looks like an end is data";
}

TEST(HttpBody, InMalformedChunksStopsBeforeTheFault) {
    EXPECT_EQ(chunked("\r\n"), "malformed after 0");
    EXPECT_EQ(chunked("x"), "malformed after 0");
    EXPECT_EQ(chunked("5\nhello"), "malformed after 1") << "LF alone";
    EXPECT_EQ(chunked("5;a=b\r\n"), "malformed after 1") << "an extension";
    EXPECT_EQ(chunked("5 \r\n"), "malformed after 1");
    EXPECT_EQ(chunked("0x5\r\n"), "malformed after 1");
    EXPECT_EQ(chunked("1\r\nab"), "malformed after 4") << "the data is longer than it says";
    EXPECT_EQ(chunked("1\r\na\n"), "malformed after 4");
    EXPECT_EQ(chunked("0\r\n\n"), "malformed after 3");
    EXPECT_EQ(chunked("0\r\nX: y\n"), "malformed after 7");
    EXPECT_EQ(chunked("0\r\n folded"), "malformed after 3");
    EXPECT_EQ(chunked("0\r\n\rX"), "malformed after 4");
}

TEST(HttpBody, IsBounded) {
    EXPECT_EQ(chunked("10000000000\r\n"), "open after 13") << "the largest chunk";
    EXPECT_EQ(chunked("10000000001"), "malformed after 10");
    EXPECT_EQ(chunked("fffffffffffffffff"), "malformed after 10");
    EXPECT_EQ(chunked(std::string(17, '0')), "malformed after 16") << "no endless zeros";
    EXPECT_EQ(chunked("0\r\n" + std::string(5000, 'x')), "malformed after 4099") << "no endless trailer";
}

}  // namespace
}  // namespace network::wire
