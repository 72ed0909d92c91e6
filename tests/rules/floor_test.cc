// SPDX-License-Identifier: MIT
#include "rules/built_in_rules.h"

#include <gtest/gtest.h>

namespace network {
namespace {

std::vector<config::Item> items(std::initializer_list<const char*> texts) {
    std::vector<config::Item> list;
    for (const char* text : texts)
        list.push_back({text, {.layer = config::Layer::user, .file = "config.toml", .line = 7}});
    return list;
}

bool is_closed(std::string_view text, std::initializer_list<const char*> opened = {}) {
    auto networks = parse_private_networks(items(opened));
    EXPECT_TRUE(networks.ok());
    return find_closed(*Address::parse(text), *networks).has_value();
}

TEST(BlockedAddresses, ClosesTheEdgesOfEveryRow) {
    for (std::string_view text : {"0.0.0.0",
                                  "0.255.255.255",
                                  "127.0.0.0",
                                  "127.0.0.1",
                                  "127.255.255.255",
                                  "169.254.0.0",
                                  "169.254.169.254",
                                  "169.254.170.2",
                                  "169.254.255.255",
                                  "10.0.0.0",
                                  "10.255.255.255",
                                  "172.16.0.0",
                                  "172.31.255.255",
                                  "192.168.0.0",
                                  "192.168.255.255",
                                  "100.64.0.0",
                                  "100.127.255.255",
                                  "100.100.100.200",
                                  "192.0.0.0",
                                  "192.0.0.192",
                                  "192.0.0.255",
                                  "198.18.0.0",
                                  "198.19.255.255",
                                  "224.0.0.0",
                                  "239.255.255.255",
                                  "240.0.0.0",
                                  "255.255.255.255",
                                  "168.63.129.16",
                                  "::",
                                  "::1",
                                  "::2",
                                  "ff:ffff::1",
                                  "fe80::1",
                                  "febf::1",
                                  "fec0::1",
                                  "fc00::1",
                                  "fdff:ffff::1",
                                  "ff02::1",
                                  "ff00::",
                                  "fd00:ec2::254",
                                  "fd00:ec2::23",
                                  "fd20:ce::254"}) {
        EXPECT_TRUE(is_closed(text)) << text;
    }
}

TEST(BlockedAddresses, LeavesThePublicInternetOpen) {
    for (std::string_view text : {"1.1.1.1",         "8.8.8.8",         "9.255.255.255",
                                  "11.0.0.0",        "126.255.255.255", "128.0.0.0",
                                  "169.253.255.255", "169.255.0.0",     "172.15.255.255",
                                  "172.32.0.0",      "192.167.255.255", "192.169.0.0",
                                  "100.63.255.255",  "100.128.0.0",     "192.0.1.0",
                                  "198.17.255.255",  "198.20.0.0",      "223.255.255.255",
                                  "168.63.129.17",   "2606:4700::1111", "2001:4860:4860::8888",
                                  "100::",           "fbff::1"}) {
        EXPECT_FALSE(is_closed(text)) << text;
    }
}

TEST(BlockedAddresses, SeesThroughEverySpellingOfIpv6) {
    for (std::string_view text : {"::ffff:127.0.0.1",
                                  "::ffff:7f00:1",
                                  "0:0:0:0:0:ffff:7f00:0001",
                                  "::127.0.0.1",
                                  "64:ff9b::127.0.0.1",
                                  "64:ff9b::7f00:1",
                                  "64:ff9b:1::127.0.0.1",
                                  "2002:7f00:1::",
                                  "2002:7f00:0001:1234::1",
                                  "2001:0:1:1::80ff:fffe",
                                  "2001:0:7f00:1::f7f7:f7f7",
                                  "::ffff:0:127.0.0.1",
                                  "::ffff:169.254.169.254",
                                  "64:ff9b::a9fe:a9fe",
                                  "2002:a9fe:a9fe::1",
                                  "2001:0:1:1:0:0:5601:5601",
                                  "::ffff:10.0.0.1",
                                  "64:ff9b::10.0.0.1",
                                  "2002:a00:1::1",
                                  "::ffff:100.100.100.200",
                                  "2002:6464:64c8::",
                                  "::ffff:0.0.0.0",
                                  "64:ff9b:1:2:3:4:808:808"}) {
        EXPECT_TRUE(is_closed(text)) << text;
    }
}

TEST(BlockedAddresses, LetsTranslatorsOfPublicAddressesThrough) {
    for (std::string_view text :
         {"64:ff9b::8.8.8.8", "64:ff9b:1::8.8.8.8", "::ffff:8.8.8.8", "2002:808:808::1"}) {
        EXPECT_FALSE(is_closed(text)) << text;
    }
    EXPECT_TRUE(is_closed("::8.8.8.8")) << "v4-compatible addresses are out of use";
}

TEST(BlockedAddresses, SaysWhichRowClosesAndWhy) {
    auto closed = find_closed(*Address::parse("2002:7f00:1::"), {});
    ASSERT_TRUE(closed);
    EXPECT_EQ(closed->row, "127.0.0.0/8 in 6to4");
    EXPECT_EQ(closed->reason, "loopback: services of this host that trust every process that reaches them");
    EXPECT_FALSE(closed->can_be_opened);
    EXPECT_TRUE(find_closed(*Address::parse("10.0.0.1"), {})->can_be_opened);
}

TEST(PrivateNetworks, OpenWhatTheyNameAndNothingElse) {
    EXPECT_FALSE(is_closed("10.20.3.4", {"10.20.0.0/16"}));
    EXPECT_FALSE(is_closed("::ffff:10.20.3.4", {"10.20.0.0/16"}));
    EXPECT_TRUE(is_closed("10.21.0.1", {"10.20.0.0/16"}));
    EXPECT_TRUE(is_closed("192.168.0.1", {"10.20.0.0/16"}));
    EXPECT_FALSE(is_closed("fd12::1", {"fd12::/16"}));
    EXPECT_TRUE(is_closed("2002:a14:304::1", {"10.20.0.0/16"}))
        << "a tunnel is not the network that was opened";
    EXPECT_TRUE(is_closed("64:ff9b::10.20.3.4", {"10.20.0.0/16"}));
}

TEST(PrivateNetworks, NeverOpenMetadataWithinThem) {
    EXPECT_TRUE(is_closed("100.100.100.200", {"100.64.0.0/10"}));
    EXPECT_FALSE(is_closed("100.100.100.201", {"100.64.0.0/10"}));
    EXPECT_TRUE(is_closed("fd00:ec2::254", {"fc00::/7"}));
    EXPECT_TRUE(is_closed("fd20:ce::254", {"fd20::/16"}));
    EXPECT_FALSE(is_closed("fd00:1::1", {"fc00::/7"}));
}

TEST(PrivateNetworks, RefuseWhatCantBeOpened) {
    for (const char* text : {"127.0.0.0/8",
                             "127.0.0.1",
                             "169.254.0.0/16",
                             "169.254.169.254",
                             "0.0.0.0/0",
                             "::/0",
                             "::1",
                             "fe80::/10",
                             "100.100.100.200",
                             "fd00:ec2::254",
                             "fd00:ec2::/32",
                             "224.0.0.0/4",
                             "198.18.0.0/15",
                             "8.8.8.0/24",
                             "0.0.0.0",
                             "10.0.0.0/7",
                             "::ffff:127.0.0.1",
                             "2001:db8::/32",
                             "2002::/16",
                             "64:ff9b::/96",
                             "example.org",
                             ""}) {
        EXPECT_FALSE(parse_private_networks(items({text})).ok()) << text;
    }
    auto refused = parse_private_networks(items({"127.0.0.0/8"}));
    EXPECT_EQ(refused.error().where, "config.toml:7");
    EXPECT_NE(refused.error().what.find("loopback"), std::string::npos) << refused.error().line();
    EXPECT_NE(parse_private_networks(items({"8.8.8.0/24"})).error().advice.find("network.allow"),
              std::string::npos);
}

TEST(BlockedPorts, ClosesMailTlsLookupsAndServicesOfTrust) {
    size_t closed = 0;
    for (unsigned port = 0; port <= 65535; ++port)
        closed += !reason_for_closed_port(static_cast<uint16_t>(port)).empty();
    EXPECT_EQ(closed, 12u);
    constexpr uint16_t kFloor[] = {24, 25, 465, 587, 2525, 853, 23, 79, 113, 512, 513, 514};
    for (uint16_t port : kFloor) {
        EXPECT_FALSE(reason_for_closed_port(port).empty()) << port;
    }
}

}  // namespace
}  // namespace network
