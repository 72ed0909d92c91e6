// SPDX-License-Identifier: MIT
#include "network/wire/dns/dns_lookup.h"

#include <gtest/gtest.h>

#include "verdicts.h"

namespace network::wire {
namespace {

const DnsQuestion kQuestion{.name = *DnsName::from_host_name("a.example"), .type = DnsType::a};
const std::string kAsked = bytes("0161 07 6578616d706c65 00 0001 0001");
using Kind = DnsReply::Kind;

DnsReply read(std::string_view counts_and_flags, std::string_view rest) {
    return parse_dns_reply(bytes("0007" + std::string(counts_and_flags)) + kAsked + bytes(rest), 7,
                           kQuestion);
}

TEST(DnsLookup, AsksWhatOurOwnReaderUnderstands) {
    ParsedDnsQuery parsed = parse_dns_query(write_dns_query(7, kQuestion));
    ASSERT_EQ(parsed.verdict, DnsVerdict::query);
    EXPECT_EQ(parsed.query.id, 7);
    EXPECT_TRUE(parsed.query.wants_recursion);
    EXPECT_EQ(parsed.query.question->name.text(), "a.example");
    EXPECT_EQ(parsed.query.edns->payload, 1232);
}

TEST(DnsLookup, GivesAllAddresses) {
    DnsReply reply = read("8180 0001 0002 0000 0000",
                          "c00c 0001 0001 0000003c 0004 01020304 c00c 0001 0001 0000003c 0004 05060708");
    EXPECT_EQ(reply.kind, Kind::answer);
    EXPECT_EQ(reply.ipv4, (std::vector<Ipv4>{{1, 2, 3, 4}, {5, 6, 7, 8}}));
}

TEST(DnsLookup, FollowsAliasesInAnyOrderAndLeavesOtherNamesOut) {
    // b.example 9.9.9.9; x.example 6.6.6.6; a.example is an alias of b.example.
    DnsReply reply = read("8180 0001 0003 0000 0000",
                          "0162 c00e 0001 0001 00000000 0004 09090909"
                          "0178 c00e 0001 0001 00000000 0004 06060606"
                          "c00c 0005 0001 00000000 0004 0142 c00e");
    EXPECT_EQ(reply.kind, Kind::answer);
    EXPECT_EQ(reply.ipv4, (std::vector<Ipv4>{{9, 9, 9, 9}}));
}

TEST(DnsLookup, AsksWithoutEdnsForThoseWhoDoNotSpeakIt) {
    ParsedDnsQuery parsed = parse_dns_query(write_dns_query(7, kQuestion, false));
    ASSERT_EQ(parsed.verdict, DnsVerdict::query);
    EXPECT_FALSE(parsed.query.edns);
}

TEST(DnsLookup, HoldsForTheShortestTimeOnTheWay) {
    EXPECT_EQ(read("8180 0001 0002 0000 0000",
                   "c00c 0001 0001 0000003c 0004 01020304 c00c 0001 0001 0000001e 0004 05060708")
                  .time_to_live,
              30u);
    // The alias is valid for five seconds. The last record has a TTL of 0, but it is for another name.
    EXPECT_EQ(read("8180 0001 0003 0000 0000",
                   "c00c 0005 0001 00000005 0004 0162 c00e"
                   "0162 c00e 0001 0001 0000003c 0004 09090909"
                   "0178 c00e 0001 0001 00000000 0004 06060606")
                  .time_to_live,
              5u);
    EXPECT_EQ(read("8180 0001 0001 0000 0000", "c00c 0001 0001 80000001 0004 01020304").time_to_live, 0u);
    EXPECT_EQ(read("8180 0001 0000 0000 0000", "").time_to_live, 0u);
}

TEST(DnsLookup, KnowsEmptyTruncatedAndFailedAnswers) {
    EXPECT_EQ(read("8180 0001 0000 0000 0000", "").kind, Kind::answer);
    EXPECT_TRUE(read("8180 0001 0000 0000 0000", "").ipv4.empty());
    EXPECT_EQ(read("8380 0001 0000 0000 0000", "").kind, Kind::truncated);
    EXPECT_EQ(read("8183 0001 0000 0000 0000", "").code, DnsCode::no_such_name);
}

TEST(DnsLookup, IgnoresWhatItDidNotAskFor) {
    EXPECT_EQ(parse_dns_reply(bytes("0008 8180 0001 0000 0000 0000") + kAsked, 7, kQuestion).kind,
              Kind::not_ours);
    EXPECT_EQ(read("0180 0001 0000 0000 0000", "").kind, Kind::not_ours) << "a query";
    EXPECT_EQ(read("8180 0000 0000 0000 0000", "").kind, Kind::not_ours) << "no question";
    DnsQuestion other{.name = *DnsName::from_host_name("b.example"), .type = DnsType::a};
    EXPECT_EQ(parse_dns_reply(bytes("0007 8180 0001 0000 0000 0000") + kAsked, 7, other).kind,
              Kind::not_ours);
    EXPECT_EQ(parse_dns_reply("", 0, kQuestion).kind, Kind::not_ours);
}

TEST(DnsLookup, RefusesWhatDoesNotAddUp) {
    EXPECT_EQ(read("8180 0001 0001 0000 0000", "").kind, Kind::malformed) << "a record is missing";
    EXPECT_EQ(read("8180 0001 0001 0000 0000", "c00c 0001 0001 00000000 0005 01020304").kind,
              Kind::malformed);
    EXPECT_EQ(read("8180 0001 0101 0000 0000", "").kind, Kind::malformed) << "too many records";
    EXPECT_EQ(read("8180 0001 0001 0000 0000", "c00c 0005 0001 00000000 0002 c00c").kind, Kind::malformed)
        << "an alias of itself";
    EXPECT_EQ(read("8180 0001 0001 0000 0000", "c00c 0005 0001 00000000 0003 0161 c0").kind, Kind::malformed)
        << "an alias that is cut short";
    EXPECT_TRUE(read("8180 0001 0001 0000 0000", "c00c 0001 0001 00000000 0003 010203").ipv4.empty());
}

}  // namespace
}  // namespace network::wire
