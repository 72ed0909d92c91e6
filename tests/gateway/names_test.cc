// SPDX-License-Identifier: MIT
#include "network/gateway/names/names.h"

#include <gtest/gtest.h>

#include "network/netns/recipe.h"

namespace network::gateway {
namespace {

HostName name(std::string_view text) {
    return *HostName::parse(text);
}

TEST(Names, AreNumberedFrom256InBothFamilies) {
    Names names;
    auto first = names.addresses_of(name("a.example.org"));
    EXPECT_EQ(first->v4.str(), "198.18.1.0");
    EXPECT_EQ(first->v6.str(), "fd61:6765:6e74::100");
    EXPECT_EQ(names.addresses_of(name("b.example.org"))->v4.str(), "198.18.1.1");
    EXPECT_EQ(names.addresses_of(name("A.Example.org."))->v4, first->v4) << "one address for all spellings";
    EXPECT_EQ(*names.name_of(first->v4), name("a.example.org"));
    EXPECT_EQ(*names.name_of(*Address::parse("fd61:6765:6e74::101")), name("b.example.org"));
}

TEST(Names, KnowNothingThatWasNotGivenOut) {
    Names names;
    names.addresses_of(name("a.example.org"));
    for (const char* text : {"198.18.1.1", "198.18.0.1", "198.18.0.3", "198.17.1.0", "198.20.1.0", "0.0.1.0",
                             "fd61:6765:6e74::101", "fd61:6765:6e74::3", "fd61:6765:6e74:0:1::100",
                             "fd61:6765:6e74::1:0:0:100", "fd61:6765:6e75::100", "::100"}) {
        EXPECT_EQ(names.name_of(*Address::parse(text)), nullptr) << text;
    }
}

TEST(Names, KnowTheirRanges) {
    for (const char* text : {"198.18.0.0", "198.19.255.255", "fd61:6765:6e74::", "fd61:6765:6e74::1:0:0:100",
                             "fd61:6765:6e74:0:ffff:ffff:ffff:ffff"}) {
        EXPECT_TRUE(Names::is_ours(*Address::parse(text))) << text;
    }
    for (const char* text : {"198.17.255.255", "198.20.0.0", "fd61:6765:6e74:1::", "fd61:6765:6e73::", "::1"})
        EXPECT_FALSE(Names::is_ours(*Address::parse(text))) << text;
}

TEST(Names, GiveNoAddressTwiceAndEndSomewhere) {
    Names names;
    const HostName* first = nullptr;
    for (uint32_t i = 0; i < Names::kMost; ++i) {
        auto pair = names.addresses_of(name("n" + std::to_string(i) + ".example.org"));
        ASSERT_TRUE(pair && Names::is_ours(pair->v4));
        const HostName* found = names.name_of(pair->v4);
        ASSERT_EQ(found->str(), "n" + std::to_string(i) + ".example.org");
        ASSERT_EQ(names.name_of(pair->v6), found);
        if (i == 0) first = found;
    }
    EXPECT_FALSE(names.addresses_of(name("one.more.example.org")));
    EXPECT_TRUE(names.addresses_of(name("n7.example.org"))) << "an old one keeps its address";
    EXPECT_EQ(first->str(), "n0.example.org") << "it stays where it was";
}

TEST(Names, FixedOnesAreThoseOfTheNamespace) {
    EXPECT_EQ(fixed_v4(Fixed::gateway), Address::from_v4(netns::kGatewayV4));
    EXPECT_EQ(fixed_v6(Fixed::gateway), Address::from_v6(netns::kGatewayV6));
    EXPECT_EQ(fixed_v4(Fixed::jail), Address::from_v4(netns::kJailV4));
    EXPECT_EQ(fixed_v6(Fixed::jail), Address::from_v6(netns::kJailV6));
    EXPECT_EQ(fixed_v4(Fixed::host).str(), "198.18.0.3");
    EXPECT_TRUE(is_fixed(*Address::parse("fd61:6765:6e74::3"), Fixed::host));
    EXPECT_FALSE(is_fixed(*Address::parse("198.18.0.2"), Fixed::host));
    EXPECT_FALSE(is_fixed(*Address::parse("0.0.0.3"), Fixed::host));
}

}  // namespace
}  // namespace network::gateway
