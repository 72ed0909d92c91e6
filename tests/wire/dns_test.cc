// SPDX-License-Identifier: MIT
#include "network/wire/dns/dns.h"

#include <gtest/gtest.h>

#include "verdicts.h"

namespace network::wire {
namespace {

// id 1234, recursion desired, one question and `additional` more records.
std::string header(std::string_view additional = "0000") {
    return bytes("1234 0100 0001 0000 0000" + std::string(additional));
}

const std::string kExample = bytes("07 6578616d706c65 03 636f6d 00");
const std::string kAddressQuestion = kExample + bytes("0001 0001");
const std::string kOpt = bytes("00 0029 04d0 00 00 8000 0000");

std::optional<DnsName> read_whole(std::string_view wire) {
    size_t at = 0;
    auto name = DnsName::read(wire, at, DnsName::Pointers::refused);
    if (name && at != wire.size()) return std::nullopt;
    return name;
}

TEST(DnsName, IsMadeOfAHostName) {
    auto name = DnsName::from_host_name("example.com.");
    ASSERT_TRUE(name);
    EXPECT_EQ(name->wire(), kExample);
    EXPECT_EQ(name->text(), "example.com");
    EXPECT_EQ(name->host_name(), "example.com");
    EXPECT_FALSE(DnsName::from_host_name("a b"));
    EXPECT_EQ(DnsName().text(), ".");
    EXPECT_FALSE(DnsName().host_name());
}

TEST(DnsName, ShowsUntrustedBytesAsEscapes) {
    auto name = read_whole(bytes("05 612e5c1bff 01 20 00"));
    ASSERT_TRUE(name);
    EXPECT_EQ(name->text(), "a\\.\\\\\\027\\255.\\032");
    EXPECT_FALSE(name->host_name());
    EXPECT_FALSE(read_whole(bytes("03 612e62 00"))->host_name()) << "a dot within a label is no separator";
}

TEST(DnsName, IsBounded) {
    std::string label = bytes("3f") + std::string(63, 'a');
    EXPECT_TRUE(read_whole(label + label + label + bytes("3d") + std::string(61, 'a') + '\0'));
    EXPECT_FALSE(read_whole(label + label + label + bytes("3e") + std::string(62, 'a') + '\0'))
        << "256 bytes";
    EXPECT_FALSE(read_whole(bytes("40") + std::string(64, 'a') + '\0')) << "a label of 64";
    EXPECT_FALSE(read_whole(bytes("05 6161")));
    EXPECT_FALSE(read_whole(bytes("01 61")));
    EXPECT_FALSE(read_whole(""));
}

TEST(DnsName, FollowsPointersBackwardsOnly) {
    auto read_at = [](std::string_view message, size_t at) {
        return DnsName::read(message, at, DnsName::Pointers::followed);
    };
    std::string message = kExample + bytes("03 777777 c000 c00d");
    size_t at = 13;
    auto name = DnsName::read(message, at, DnsName::Pointers::followed);
    ASSERT_TRUE(name);
    EXPECT_EQ(name->text(), "www.example.com");
    EXPECT_EQ(at, 19u);
    EXPECT_EQ(read_at(message, 19)->text(), "www.example.com") << "a pointer to a pointer";
    EXPECT_FALSE(read_at(bytes("c000"), 0)) << "to itself";
    EXPECT_FALSE(read_at(bytes("c002 c000"), 0)) << "forwards";
    EXPECT_FALSE(read_at(bytes("c002 c000"), 2)) << "a loop of two";
    EXPECT_FALSE(read_at(bytes("01 61 c000"), 2 + 0)) << "a name that contains itself";
    EXPECT_FALSE(read_at(bytes("c0"), 0));
    EXPECT_FALSE(read_at(bytes("80 00"), 0)) << "reserved kinds of labels";
    EXPECT_FALSE(read_whole(bytes("c000"))) << "where pointers are refused";
}

TEST(DnsQuery, IsReadWithItsFlags) {
    ParsedDnsQuery parsed = parse_dns_query(header() + kAddressQuestion);
    ASSERT_EQ(parsed.verdict, DnsVerdict::query);
    EXPECT_EQ(parsed.query.id, 0x1234);
    EXPECT_TRUE(parsed.query.wants_recursion);
    EXPECT_EQ(parsed.query.question->name.text(), "example.com");
    EXPECT_EQ(parsed.query.question->type, DnsType::a);
    EXPECT_FALSE(parsed.query.edns);
}

TEST(DnsQuery, MayCarryEdns) {
    ParsedDnsQuery parsed = parse_dns_query(header("0001") + kAddressQuestion + kOpt);
    ASSERT_EQ(parsed.verdict, DnsVerdict::query);
    ASSERT_TRUE(parsed.query.edns);
    EXPECT_EQ(parsed.query.edns->payload, 1232);
    EXPECT_TRUE(parsed.query.edns->wants_dnssec);
}

TEST(DnsQuery, MayBeOfAnyType) {
    ParsedDnsQuery parsed = parse_dns_query(header() + kExample + bytes("0041 0001"));
    ASSERT_EQ(parsed.verdict, DnsVerdict::query);
    EXPECT_EQ(parsed.query.question->type, DnsType::https);
}

TEST(DnsQuery, OfAnotherKindIsNotImplemented) {
    EXPECT_EQ(parse_dns_query(bytes("1234 2800 0001 0000 0000 0000") + kAddressQuestion).verdict,
              DnsVerdict::not_implemented)
        << "an update";
    EXPECT_EQ(parse_dns_query(header() + kExample + bytes("0010 0003")).verdict, DnsVerdict::not_implemented)
        << "class CHAOS";
    std::string later = kOpt;
    later[6] = 1;
    EXPECT_EQ(parse_dns_query(header("0001") + kAddressQuestion + later).verdict, DnsVerdict::bad_version);
}

TEST(DnsQuery, ThatIsAnAnswerOrNoMessageIsIgnored) {
    EXPECT_EQ(parse_dns_query(bytes("1234 8180 0001 0000 0000 0000") + kAddressQuestion).verdict,
              DnsVerdict::ignore);
    EXPECT_EQ(parse_dns_query("").verdict, DnsVerdict::ignore);
    EXPECT_EQ(parse_dns_query(header().substr(0, 11)).verdict, DnsVerdict::ignore);
}

TEST(DnsQuery, ThatIsMalformedSaysSo) {
    struct Row {
        std::string message;
        const char* why;
    };
    const Row rows[] = {
        {header(), "no question behind the header"},
        {bytes("1234 0100 0000 0000 0000 0000"), "no question counted"},
        {bytes("1234 0100 0002 0000 0000 0000") + kAddressQuestion + kAddressQuestion, "two questions"},
        {header() + kAddressQuestion + "x", "a byte too many"},
        {header() + kExample + bytes("0001 00"), "cut short"},
        {header() + bytes("c00c 0001 0001"), "a question that points to itself"},
        {header() + bytes("c000 0001 0001"), "a question that points into the header"},
        {bytes("1234 0100 0001 0001 0000 0000") + kAddressQuestion, "an answer in a query"},
        {header("0001") + kAddressQuestion, "a missing record"},
        {header("0002") + kAddressQuestion + kOpt + kOpt, "two OPT"},
        {header("0001") + kAddressQuestion + bytes("0161") + kOpt, "an OPT with a name"},
        {header("0005") + kAddressQuestion + kOpt + kOpt + kOpt + kOpt + kOpt, "too many records"},
        {header("0001") + kAddressQuestion + bytes("00 0029 1400 00000000 1000") + std::string(4096, '\0'),
         "too long"},
    };
    for (const Row& row : rows)
        EXPECT_EQ(parse_dns_query(row.message).verdict, DnsVerdict::form_error) << row.why;
}

TEST(ReverseName, SpellsAnAddress) {
    EXPECT_EQ(reverse_ipv4(*DnsName::from_host_name("7.0.18.198.IN-ADDR.arpa")), (Ipv4{198, 18, 0, 7}));
    std::string nibbles = "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa";
    EXPECT_EQ(reverse_ipv6(*DnsName::from_host_name(nibbles)),
              (Ipv6{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
}

TEST(ReverseName, IsWholeOrNone) {
    for (std::string_view bad :
         {"0.18.198.in-addr.arpa", "1.7.0.18.198.in-addr.arpa", "256.0.18.198.in-addr.arpa",
          "07.0.18.198.in-addr.arpa", "x.0.18.198.in-addr.arpa", "in-addr.arpa", "1.2.3.4xin-addr.arpa",
          "1.2.3.4.example.com", "-1.0.18.198.in-addr.arpa"}) {
        EXPECT_FALSE(reverse_ipv4(*DnsName::from_host_name(bad))) << bad;
    }
    EXPECT_FALSE(reverse_ipv6(*DnsName::from_host_name("1.0.ip6.arpa")));
    EXPECT_FALSE(reverse_ipv4(DnsName()));
}

TEST(DnsStream, GivesMessageAfterMessage) {
    std::string message = "twelve bytes";
    std::string frame = dns_frame(message);
    EXPECT_EQ(hexadecimal(frame.substr(0, 2)), "000c");
    std::string shown = "[" + hexadecimal(message) + "] ";
    EXPECT_EQ(agreed(frames_verdict, frame + frame), shown + shown + "need more");
    EXPECT_EQ(agreed(frames_verdict, frame.substr(0, 13)), "need more");
}

TEST(DnsStream, RefusesLengthsBeforeTheMessageArrives) {
    EXPECT_EQ(agreed(frames_verdict, bytes("000b")), "refused");
    EXPECT_EQ(agreed(frames_verdict, bytes("1001")), "refused");
    EXPECT_EQ(agreed(frames_verdict, bytes("1000")), "need more");
}

}  // namespace
}  // namespace network::wire
