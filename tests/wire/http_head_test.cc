// SPDX-License-Identifier: MIT
#include "network/wire/http/http_head.h"

#include <gtest/gtest.h>

#include "verdicts.h"

namespace network::wire {
namespace {

std::string verdict(std::string_view input) {
    return agreed(head_verdict, input);
}

// A request with a valid request line and Host, and these further lines.
std::string with(std::string_view lines) {
    return verdict("GET / HTTP/1.1\r\nHost: a.b\r\n" + std::string(lines) + "\r\n");
}

HttpRequest request(std::string_view input) {
    HttpHeadReader reader;
    EXPECT_EQ(reader.look(input), HttpHeadReader::State::complete) << reader.fault().reason;
    return reader.request();
}

TEST(HttpHead, ReadsEveryForm) {
    EXPECT_EQ(verdict("GET /x?y HTTP/1.1\r\nHost: a.b:81\r\n\r\n"),
              "GET origin path=/x?y target=none host=a.b:81");
    EXPECT_EQ(verdict("GET http://a.b/x HTTP/1.1\r\nHost: A.b\r\n\r\n"),
              "GET absolute path=/x target=a.b host=A.b");
    EXPECT_EQ(verdict("GET HTTP://a.b:80?q HTTP/1.1\r\nHost: a.b\r\n\r\n"),
              "GET absolute path=/?q target=a.b:80 host=a.b");
    EXPECT_EQ(verdict("CONNECT a.b:443 HTTP/1.1\r\nHost: a.b:443\r\n\r\n"),
              "CONNECT authority path= target=a.b:443 host=a.b:443");
    EXPECT_EQ(verdict("CONNECT [::1]:443 HTTP/1.0\r\n\r\n"),
              "CONNECT authority path= target=[::1]:443 host=none close");
    EXPECT_EQ(verdict("CONNECT a.b:443 HTTP/1.1\r\nHost: a.b\r\n\r\n"),
              "CONNECT authority path= target=a.b:443 host=a.b");
    EXPECT_EQ(verdict("OPTIONS * HTTP/1.1\r\nHost: a.b\r\n\r\n"),
              "OPTIONS asterisk path=* target=none host=a.b");
    EXPECT_EQ(verdict("OPTIONS http://a.b HTTP/1.1\r\nHost: a.b\r\n\r\n"),
              "OPTIONS absolute path=* target=a.b host=a.b");
}

TEST(HttpHead, EndsAtTheEmptyLine) {
    EXPECT_EQ(request("GET / HTTP/1.1\r\nHost: a\r\n\r\nbody").head_size, 27u);
    EXPECT_EQ(verdict("GET / HTTP/1.1\r\nHost: a.b\r\n"), "need more");
    EXPECT_EQ(verdict("GET / HTTP/1.1\r\nHost: a.b\r\n\r"), "need more");
}

TEST(HttpHead, KnowsHowTheBodyIsFramed) {
    EXPECT_EQ(with("Content-Length: 12\r\n"), "GET origin path=/ target=none host=a.b length=12");
    EXPECT_EQ(with("content-length: 0\r\n"), "GET origin path=/ target=none host=a.b");
    EXPECT_EQ(with("Transfer-Encoding: Chunked\r\n"), "GET origin path=/ target=none host=a.b chunked");
}

TEST(HttpHead, KnowsWhetherTheConnectionStays) {
    EXPECT_EQ(with("Connection: foo, Close\r\n"), "GET origin path=/ target=none host=a.b close");
    EXPECT_EQ(verdict("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
              "GET origin path=/ target=none host=none");
    EXPECT_EQ(with("Connection: Upgrade\r\nUpgrade: WebSocket\r\n"),
              "GET origin path=/ target=none host=a.b websocket");
    EXPECT_EQ(with("Connection: Upgrade\r\nUpgrade: h2c\r\n"), "GET origin path=/ target=none host=a.b");
    EXPECT_EQ(with("Upgrade: websocket\r\n"), "GET origin path=/ target=none host=a.b")
        << "Connection must name it";
}

TEST(HttpHead, RefusesRequestLines) {
    constexpr std::string_view kLine = "400 the request line is not 'METHOD target HTTP/1.x'";
    constexpr std::string_view kTarget = "400 the target is malformed";
    struct Row {
        std::string_view line;
        std::string_view verdict;
    };
    const Row rows[] = {
        {"GET /", kLine},
        {"GET / ", kLine},
        {"GET / http/1.1", kLine},
        {"GET / HTTP/1.1 ", kLine},
        {"GET / HTTP/2.0", "505 the protocol is not HTTP/1.0 or HTTP/1.1"},
        {"GET / HTTP/1.10", "505 the protocol is not HTTP/1.0 or HTTP/1.1"},
        {"GET  / HTTP/1.1", kTarget},
        {"GET /a b HTTP/1.1", kTarget},
        {"GET /\tb HTTP/1.1", kTarget},
        {"GET /a#b HTTP/1.1", kTarget},
        {"GET * HTTP/1.1", kTarget},
        {"GET a.b:80 HTTP/1.1", kTarget},
        {"GET a.b HTTP/1.1", kTarget},
        {"GET http:///x HTTP/1.1", kTarget},
        {"GET http://u:p@a.b/ HTTP/1.1", kTarget},
        {"GET http://a.b:x/ HTTP/1.1", kTarget},
        {"GET http://a.b\\@c/ HTTP/1.1", kTarget},
        {"GET https://a.b/ HTTP/1.1",
         "400 only http:// is served in absolute form; https goes through CONNECT"},
        {"GET ftp://a.b/ HTTP/1.1",
         "400 only http:// is served in absolute form; https goes through CONNECT"},
        {"CONNECT a.b HTTP/1.1", "400 CONNECT wants host:port"},
        {"CONNECT / HTTP/1.1", "400 CONNECT wants host:port"},
        {"CONNECT http://a.b:80/ HTTP/1.1", "400 CONNECT wants host:port"},
        {"connect a.b:80 HTTP/1.1", kTarget},
        {"G(T / HTTP/1.1", "400 the method is malformed"},
        {"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1", "400 the method is malformed"},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(verdict(std::string(row.line) + "\r\nHost: a.b\r\n\r\n"), row.verdict) << row.line;
    }
}

TEST(HttpHead, TakesPathsThatPeopleType) {
    EXPECT_EQ(verdict("GET /b\xc3\xbc HTTP/1.1\r\nHost: a\r\n\r\n"),
              "GET origin path=/b\xc3\xbc target=none host=a");
}

TEST(HttpHead, RefusesStrayControlsAtOnce) {
    EXPECT_EQ(verdict("GET / HTTP/1.1\n"), "400 a line of the head ends with LF alone");
    EXPECT_EQ(verdict("GET / HTTP/1.1\r\nX: a\nb"), "400 a line of the head ends with LF alone");
    EXPECT_EQ(verdict("GET / HTTP/1.1\r\nX: a\rb"), "400 the head holds CR without LF");
    EXPECT_EQ(verdict("GET / HTTP/1.1\r\r\n"), "400 the head holds CR without LF");
    EXPECT_EQ(verdict(std::string("GET / HTTP/1.1\r\nX: a\0", 21)), "400 the head holds a control character");
    EXPECT_EQ(verdict("GET / HTTP/1.1\r\nX: \x1b"), "400 the head holds a control character");
    EXPECT_EQ(verdict("GET / HTTP/1.1\r\nX: \x7f"), "400 the head holds a control character");
    EXPECT_EQ(verdict("GET / HTTP/1.1\r\nX: a\r\n "), "400 a line of the head starts with a blank");
    EXPECT_EQ(verdict("GET / HTTP/1.1\r\n\t"), "400 a line of the head starts with a blank");
    EXPECT_EQ(verdict("\x16\x03\x01"), "400 the head holds a control character");
    EXPECT_EQ(verdict("\r\n\r\n").substr(0, 3), "400");
}

TEST(HttpHead, RefusesMalformedFields) {
    for (std::string_view lines :
         {"Name : x\r\n", ": x\r\n", "Name\r\n", "Na me: x\r\n", "N(me: x\r\n", "N\xc3: x\r\n"}) {
        EXPECT_EQ(with(lines), "400 a header field is malformed") << lines;
    }
    EXPECT_EQ(with("X:\r\nY: \t \r\nZ: \xff \t tail\t\r\n"), "GET origin path=/ target=none host=a.b");
}

TEST(HttpHead, RefusesDoubtAboutTheLength) {
    EXPECT_EQ(with("Content-Length: 1\r\nContent-Length: 1\r\n"),
              "400 the request has several Content-Length fields");
    EXPECT_EQ(with("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
              "400 the request has both Content-Length and Transfer-Encoding");
    for (std::string_view value :
         {"", "+1", "-1", "1,1", "1 1", "0x1", "1a", "9223372036854775808", "99999999999999999999"}) {
        EXPECT_EQ(with("Content-Length: " + std::string(value) + "\r\n"),
                  "400 the Content-Length field is malformed")
            << value;
    }
    constexpr std::string_view kCoding = "501 the only transfer coding served is chunked, once, in HTTP/1.1";
    for (std::string_view value :
         {"", "gzip", "chunked, gzip", "gzip, chunked", "chunked,chunked", "xchunked", "chunked;a"}) {
        EXPECT_EQ(with("Transfer-Encoding: " + std::string(value) + "\r\n"), kCoding) << value;
    }
    EXPECT_EQ(with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), kCoding);
    EXPECT_EQ(verdict("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), kCoding);
    EXPECT_EQ(with("Connection: close, Content-Length\r\n"),
              "400 the Connection field names a field that frames the request");
    EXPECT_EQ(verdict("CONNECT a.b:443 HTTP/1.1\r\nHost: a.b\r\nContent-Length: 5\r\n\r\n"),
              "400 CONNECT takes no body");
}

TEST(HttpHead, RefusesDoubtAboutTheHost) {
    EXPECT_EQ(verdict("GET / HTTP/1.1\r\n\r\n"), "400 the request has no Host field");
    EXPECT_EQ(with("Host: a.b\r\n"), "400 the request has several Host fields");
    for (std::string_view value : {"", "a b", "a,b", "u@a", "a.b/", "a.b:", "a.b:0", "::1"}) {
        EXPECT_EQ(verdict("GET / HTTP/1.1\r\nHost: " + std::string(value) + "\r\n\r\n"),
                  "400 the Host field is malformed")
            << value;
    }
    constexpr std::string_view kOther = "400 the Host field does not name the target";
    EXPECT_EQ(verdict("GET http://a.b/ HTTP/1.1\r\nHost: c.d\r\n\r\n"), kOther);
    EXPECT_EQ(verdict("GET http://a.b/ HTTP/1.1\r\nHost: a.b:81\r\n\r\n"), kOther);
    EXPECT_EQ(verdict("CONNECT a.b:443 HTTP/1.1\r\nHost: c.d:443\r\n\r\n"), kOther);
    EXPECT_EQ(verdict("CONNECT a.b:443 HTTP/1.1\r\nHost: a.b:80\r\n\r\n"), kOther);
}

TEST(HttpHead, IsBounded) {
    std::string line = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
    std::string largest = line + std::string(kMaximumHead - line.size() - 4, 'x') + "\r\n\r\n";
    ASSERT_EQ(largest.size(), kMaximumHead);
    EXPECT_EQ(verdict(largest), "GET origin path=/ target=none host=a");
    EXPECT_EQ(verdict(line + "x" + largest.substr(line.size())), "431 the head is longer than 16 KiB");
    EXPECT_EQ(verdict(std::string(kMaximumHead, 'G')), "need more");
    EXPECT_EQ(verdict(std::string(kMaximumHead + 1, 'G')), "431 the head is longer than 16 KiB");
    std::string fields;
    for (size_t i = 1; i < kMaximumFields; ++i) fields += "X: y\r\n";
    EXPECT_EQ(with(fields), "GET origin path=/ target=none host=a.b");
    EXPECT_EQ(with(fields + "X: y\r\n"), "431 the request has more than 128 header fields");
}

TEST(ForwardedHead, IsOneRequestInOriginForm) {
    EXPECT_EQ(
        forwarded_head(request("GET http://a.b:81/x?y HTTP/1.1\r\nAccept: */*\r\nHost: A.B:81\r\n"
                               "Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==\r\n\r\n")),
        "GET /x?y HTTP/1.1\r\nHost: a.b:81\r\nAccept: */*\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(forwarded_head(request("GET /x HTTP/1.1\r\nHost: a.b\r\n\r\n")),
              "GET /x HTTP/1.1\r\nHost: a.b\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(forwarded_head(request("CONNECT a.b:443 HTTP/1.1\r\nHost: a.b\r\n\r\n")),
              "CONNECT a.b:443 HTTP/1.1\r\nHost: a.b:443\r\nConnection: close\r\n\r\n");
}

TEST(ForwardedHead, DropsWhatEndsAtThisHop) {
    EXPECT_EQ(forwarded_head(request(
                  "GET / HTTP/1.1\r\nHost: a\r\nConnection: X-Hop, Upgrade, HTTP2-Settings\r\n"
                  "x-hop: 1\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\nTE: trailers\r\nKeep: 1\r\n\r\n")),
              "GET / HTTP/1.1\r\nHost: a\r\nKeep: 1\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(forwarded_head(
                  request("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")),
              "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
}

TEST(ForwardedHead, StaysOpenOnlyForThoseWhoAskAndCount) {
    HttpRequest open = request("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n");
    EXPECT_EQ(forwarded_head(open, true), "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n");
    HttpRequest closing = request("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(forwarded_head(closing, true), "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    HttpRequest old = request("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(forwarded_head(old, true), "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
}

}  // namespace
}  // namespace network::wire
