// SPDX-License-Identifier: MIT
#include "network/wire/http/http_head.h"

#include <gtest/gtest.h>

namespace network::wire {
namespace {

TEST(HostName, TakesWhatNamesAreMadeOf) {
    for (std::string_view good : {"a", "example.com", "EXAMPLE.com", "xn--bcher-kva.de", "_dmarc.a-b.c",
                                  "1.2.3.4", "example.com.", "-.tumblr.com"}) {
        EXPECT_TRUE(is_host_name(good)) << good;
    }
}

TEST(HostName, RefusesEverythingElse) {
    for (std::string_view bad :
         {"", ".", "..", "a..b", ".a", "a..", "a b", "a@b", "a/b", "a\\b", "a#b", "a?b", "a:1", "[::1]",
          "b\xc3\xbc"
          "cher.de",
          "a%2e", "a\r\nb", "*"}) {
        EXPECT_FALSE(is_host_name(bad)) << bad;
    }
    EXPECT_FALSE(is_host_name(std::string_view("a\0b", 3)));
}

TEST(HostName, IsBounded) {
    std::string label(63, 'a');
    EXPECT_TRUE(is_host_name(label));
    EXPECT_FALSE(is_host_name(label + "a"));
    std::string longest = label + "." + label + "." + label + "." + std::string(61, 'a');
    EXPECT_EQ(longest.size(), 253u);
    EXPECT_TRUE(is_host_name(longest));
    EXPECT_TRUE(is_host_name(longest + ".")) << "the dot at the end does not count";
    EXPECT_FALSE(is_host_name(longest + "a"));
}

TEST(Authority, ReadsHostAndPort) {
    auto plain = parse_authority("example.com");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->host, "example.com");
    EXPECT_FALSE(plain->port);
    auto with_port = parse_authority("example.com:443");
    ASSERT_TRUE(with_port);
    EXPECT_EQ(with_port->port, 443);
    auto ipv6 = parse_authority("[2001:db8::1]:8080");
    ASSERT_TRUE(ipv6);
    EXPECT_TRUE(ipv6->is_ipv6);
    EXPECT_EQ(ipv6->host, "2001:db8::1");
    EXPECT_EQ(ipv6->port, 8080);
}

TEST(Authority, IsWrittenAsItWasRead) {
    for (std::string_view text : {"a.b", "a.b:1", "[::1]", "[::1]:65535", "127.0.0.1:80"}) {
        auto authority = parse_authority(text);
        ASSERT_TRUE(authority) << text;
        EXPECT_EQ(authority_text(*authority), text);
    }
}

TEST(Authority, RefusesOtherSpellings) {
    for (std::string_view bad : {"",
                                 ":80",
                                 "a:",
                                 "a:0",
                                 "a:080",
                                 "a:65536",
                                 "a:99999999999",
                                 "a:+80",
                                 "a:-1",
                                 "a:80x",
                                 "a:8 0",
                                 "u@a",
                                 "a:b:1",
                                 "[::1",
                                 "[]",
                                 "[::1]x",
                                 "[::1]80",
                                 "[fe80::1%eth0]",
                                 "[1.2.3.4]",
                                 "::1",
                                 "[::1]:",
                                 "[g::1]"}) {
        EXPECT_FALSE(parse_authority(bad)) << bad;
    }
    EXPECT_FALSE(parse_authority("[" + std::string(5000, ':') + "]"));
    EXPECT_FALSE(parse_authority(std::string("[::1\0]", 6)));
}

}  // namespace
}  // namespace network::wire
