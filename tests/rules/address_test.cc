// SPDX-License-Identifier: MIT
#include "rules/address.h"

#include <gtest/gtest.h>

namespace network {
namespace {

using namespace std::string_view_literals;

Address address(std::string_view text) {
    return *Address::parse(text);
}

std::string normal_prefix(std::string_view text) {
    auto prefix = Prefix::parse(text);
    return prefix.ok() ? prefix->str() : "refused";
}

TEST(Address, HasOneTextForEachValue) {
    EXPECT_EQ(address("10.1.2.3").str(), "10.1.2.3");
    EXPECT_EQ(address("2001:DB8:0:0:0:0:0:1").str(), "2001:db8::1");
    EXPECT_EQ(address("::ffff:10.1.2.3").str(), "10.1.2.3") << "v4-mapped is IPv4";
    EXPECT_EQ(address("::ffff:a01:203"), address("10.1.2.3"));
    EXPECT_EQ(address("64:ff9b::1.2.3.4"), address("64:ff9b::102:304"));
}

TEST(Address, TellsTheFamilies) {
    EXPECT_TRUE(address("1.2.3.4").is_v4());
    EXPECT_FALSE(address("::1").is_v4());
    EXPECT_FALSE(Address().is_v4());
    EXPECT_EQ(Address::from_v4({1, 2, 3, 4}), address("1.2.3.4"));
    EXPECT_EQ(Address::from_v6(address("2001:db8::1").bytes()), address("2001:db8::1"));
}

TEST(Address, TakesNoOtherSpelling) {
    for (std::string_view text :
         {"",           "127.1",   "0177.0.0.1",        "0x7f.0.0.1", "2130706433", "127.0.0.01",
          "127.0.0.1.", "127.0.0", "127.0.0.256",       " 127.0.0.1", "127.0.0.1 ", "1.2.3.4/32",
          "[::1]",      "::1%lo",  "fe80::1%eth0",      ":::",        "1::2::3",    "12345::",
          "::g",        "::1.2.3", "1:2:3:4:5:6:7:8:9", "localhost",  "١.٢.٣.٤",    "127．0．0．1"}) {
        EXPECT_FALSE(Address::parse(text).ok()) << text;
    }
    EXPECT_FALSE(Address::parse("127.0.0.1\0.example.org"sv).ok());
    EXPECT_FALSE(Address::parse(std::string(1u << 20, '1')).ok());
}

TEST(Prefix, ReadsNetworksAndSingleAddresses) {
    EXPECT_EQ(normal_prefix("10.0.0.0/8"), "10.0.0.0/8");
    EXPECT_EQ(normal_prefix("10.1.2.3"), "10.1.2.3");
    EXPECT_EQ(normal_prefix("10.1.2.3/32"), "10.1.2.3");
    EXPECT_EQ(normal_prefix("0.0.0.0/0"), "0.0.0.0/0");
    EXPECT_EQ(normal_prefix("::/0"), "::/0");
    EXPECT_EQ(normal_prefix("2001:DB8::/32"), "2001:db8::/32");
    EXPECT_EQ(normal_prefix("::ffff:10.0.0.0/104"), "10.0.0.0/8");
    for (std::string_view text :
         {"10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/8/8", "::/129", "10/8", "/8",
          "10.0.0.0/ 8", "10.0.0.0/255.0.0.0", "10.0.0.0/99999999999"}) {
        EXPECT_EQ(normal_prefix(text), "refused") << text;
    }
}

TEST(Prefix, SaysWhichNetworkWasMeant) {
    auto prefix = Prefix::parse("10.1.2.3/8");
    ASSERT_FALSE(prefix.ok());
    EXPECT_EQ(prefix.error().advice, "write 10.0.0.0/8, or 10.1.2.3 alone");
}

TEST(Prefix, ContainsItsAddressesAndNoOthers) {
    Prefix ten = *Prefix::parse("10.0.0.0/8");
    EXPECT_TRUE(ten.contains(address("10.255.0.1")));
    EXPECT_FALSE(ten.contains(address("11.0.0.0")));
    EXPECT_TRUE(ten.contains(address("::ffff:10.0.0.1")));
    EXPECT_TRUE(ten.contains(*Prefix::parse("10.1.0.0/16")));
    EXPECT_FALSE(ten.contains(*Prefix::parse("0.0.0.0/0")));
    Prefix odd = *Prefix::parse("192.168.4.0/23");
    EXPECT_TRUE(odd.contains(address("192.168.5.255")));
    EXPECT_FALSE(odd.contains(address("192.168.6.0")));
}

TEST(Prefix, KeepsTheFamiliesApart) {
    EXPECT_FALSE(Prefix::parse("::/0")->contains(address("8.8.8.8")));
    EXPECT_FALSE(Prefix::parse("0.0.0.0/0")->contains(address("2001:db8::1")));
    EXPECT_TRUE(Prefix::parse("0.0.0.0/0")->contains(address("8.8.8.8")));
    EXPECT_TRUE(Prefix::parse("::/0")->contains(address("2001:db8::1")));
}

TEST(Embedded, FindsIpv4InEveryForm) {
    struct Case {
        std::string_view text;
        std::string_view inner;
        std::string_view form;
        bool is_same_host;
    };
    constexpr Case kCases[] = {
        {"64:ff9b::a00:1", "10.0.0.1", "NAT64", true},
        {"64:ff9b:1::10.0.0.1", "10.0.0.1", "NAT64 of this site", true},
        {"64:ff9b:1:fffe::10.0.0.1", "10.0.0.1", "NAT64 of this site", true},
        {"2002:a00:1::", "10.0.0.1", "6to4", false},
        {"2002:7f00:1:5::9", "127.0.0.1", "6to4", false},
        {"::10.0.0.1", "10.0.0.1", "v4-compatible", false},
    };
    for (const Case& entry : kCases) {
        auto found = embedded_addresses(address(entry.text));
        ASSERT_EQ(found.size(), 1u) << entry.text;
        EXPECT_EQ(found[0].address, address(entry.inner)) << entry.text;
        EXPECT_EQ(found[0].form, entry.form);
        EXPECT_EQ(found[0].is_same_host, entry.is_same_host) << entry.text;
    }
}

TEST(Embedded, FindsBothAddressesOfTeredo) {
    // Server 65.54.227.120, client 192.0.2.45 inverted: the example of RFC 4380.
    auto found = embedded_addresses(address("2001:0:4136:e378:8000:63bf:3fff:fdd2"));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].address, address("192.0.2.45"));
    EXPECT_EQ(found[1].address, address("65.54.227.120"));
}

TEST(Embedded, LeavesOtherAddressesAlone) {
    for (std::string_view text :
         {"10.0.0.1", "::ffff:10.0.0.1", "2001:db8::1", "2001:1::1", "fe80::1", "64:ff9b:1:2:3:4:5:6"}) {
        EXPECT_TRUE(embedded_addresses(address(text)).empty()) << text;
    }
}

}  // namespace
}  // namespace network
