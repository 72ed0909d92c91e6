// SPDX-License-Identifier: MIT
// The namespace setup uses bytes, the gateway uses values, files in the jail use text: all must mean the same
// addresses.
#include "network/netns/recipe.h"

#include <gtest/gtest.h>

#include "network/gateway/names/names.h"
#include "rules/services.h"

namespace network::gateway {
namespace {

TEST(Addresses, OfTheGatewayAndTheJailAreTheSameInBothPlaces) {
    EXPECT_EQ(Address::from_v4(netns::kGatewayV4), fixed_v4(Fixed::gateway));
    EXPECT_EQ(Address::from_v6(netns::kGatewayV6), fixed_v6(Fixed::gateway));
    EXPECT_EQ(Address::from_v4(netns::kJailV4), fixed_v4(Fixed::jail));
    EXPECT_EQ(Address::from_v6(netns::kJailV6), fixed_v6(Fixed::jail));
}

TEST(Addresses, OfOursLieInOurRangesAndAreNoName) {
    Names names;
    std::optional<Names::Pair> first = names.addresses_of(*HostName::parse("first.test"));
    ASSERT_TRUE(first);
    for (Fixed which : {Fixed::gateway, Fixed::jail, Fixed::host}) {
        for (const Address& address : {fixed_v4(which), fixed_v6(which)}) {
            EXPECT_TRUE(Names::is_ours(address)) << address.str();
            EXPECT_TRUE(is_fixed(address, which)) << address.str();
            EXPECT_EQ(names.name_of(address), nullptr) << address.str();
        }
    }
    EXPECT_FALSE(is_fixed(first->v4, Fixed::gateway));
    EXPECT_TRUE(Names::is_ours(first->v4) && Names::is_ours(first->v6));
}

TEST(Addresses, AsTextAreTheSame) {
    for (Fixed which : {Fixed::gateway, Fixed::jail, Fixed::host, Fixed::denier})
        EXPECT_EQ(base::v4_text(which), fixed_v4(which).str());
    EXPECT_EQ(base::v4_text(Fixed::gateway), "198.18.0.1");
}

}  // namespace
}  // namespace network::gateway
