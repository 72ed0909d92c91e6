// SPDX-License-Identifier: MIT
#include "network/wire/dns/dns.h"

#include <gtest/gtest.h>

#include "verdicts.h"

namespace network::wire {
namespace {

DnsQuery query(DnsType type, bool has_edns = false) {
    DnsQuery query{.id = 0x1234, .wants_recursion = true};
    query.question = DnsQuestion{.name = *DnsName::from_host_name("aB.c"), .type = type};
    if (has_edns) query.edns = Edns{.payload = 4096};
    return query;
}

const std::string kName =
    "02614201"
    "6300";

TEST(DnsAnswer, GivesAnAddressWithAShortLife) {
    EXPECT_EQ(hexadecimal(answer_address(query(DnsType::a), Ipv4{198, 18, 0, 1}, 5)),
              "1234818000010001"
              "00000000" +
                  kName +
                  "00010001"
                  "c00c00010001"
                  "00000005"
                  "0004c6120001");
    EXPECT_EQ(hexadecimal(answer_address(query(DnsType::aaaa), Ipv6{0xfd}, 5)),
              "1234818000010001"
              "00000000" +
                  kName +
                  "001c0001"
                  "c00c001c0001"
                  "00000005"
                  "0010fd" +
                  std::string(30, '0'));
}

TEST(DnsAnswer, GivesAName) {
    EXPECT_EQ(hexadecimal(answer_pointer(query(DnsType::ptr), *DnsName::from_host_name("x.y"), 5)),
              "1234818000010001"
              "00000000" +
                  kName +
                  "000c0001"
                  "c00c000c0001"
                  "00000005"
                  "0005"
                  "0178017900");
}

TEST(DnsAnswer, SaysThatThereIsNoSuchRecord) {
    EXPECT_EQ(hexadecimal(answer_no_data(query(DnsType::https))),
              "1234818000010000"
              "00000000" +
                  kName + "00410001");
}

TEST(DnsAnswer, RefusesWithAReasonForThoseWhoSpeakEdns) {
    EXPECT_EQ(hexadecimal(answer_failure(query(DnsType::a), DnsCode::refused, ExtendedError{.text = "no"})),
              "1234818500010000"
              "00000000" +
                  kName + "00010001")
        << "no OPT where none was asked for";
    EXPECT_EQ(
        hexadecimal(answer_failure(query(DnsType::a, true), DnsCode::refused, ExtendedError{.text = "no"})),
        "1234818500010000"
        "00000001" +
            kName +
            "00010001"
            "00002904d000000000"
            "0008"
            "000f0004000f6e6f");
}

TEST(DnsAnswer, HasACodeForEveryFault) {
    DnsQuery asked = query(DnsType::a, true);
    auto code = [](const std::string& answer) { return answer[3] & 0xf; };
    EXPECT_EQ(code(answer_failure(asked, DnsCode::no_such_name)), 3);
    EXPECT_EQ(code(answer_failure(asked, DnsCode::server_failure)), 2);
    EXPECT_EQ(code(*answer_fault({DnsVerdict::form_error, asked})), 1);
    EXPECT_EQ(code(*answer_fault({DnsVerdict::not_implemented, asked})), 4);
    std::string bad_version = *answer_fault({DnsVerdict::bad_version, asked});
    EXPECT_EQ(code(bad_version), 0);
    EXPECT_EQ(hexadecimal(bad_version.substr(bad_version.size() - 6)), "010000000000")
        << "the upper bits are in OPT";
    EXPECT_FALSE(answer_fault({DnsVerdict::ignore, asked}));
    EXPECT_FALSE(answer_fault({DnsVerdict::query, asked}));
}

TEST(DnsAnswer, ToAQuestionThatCouldNotBeReadHasNone) {
    DnsQuery unread{.id = 7, .opcode = 5};
    EXPECT_EQ(hexadecimal(answer_failure(unread, DnsCode::not_implemented)), "0007a8840000000000000000");
    EXPECT_EQ(hexadecimal(answer_address(unread, Ipv4{})), "0007a8820000000000000000")
        << "there is nothing to answer";
}

TEST(DnsAnswer, AlwaysFitsIntoOldDatagrams) {
    std::string label(63, 'a');
    std::string longest = label + "." + label + "." + label + "." + std::string(61, 'a');
    DnsQuery asked = query(DnsType::ptr, true);
    asked.question->name = *DnsName::from_host_name(longest);
    std::string text;
    while (text.size() < 999) text += "\u00fc";
    std::string refused = answer_failure(asked, DnsCode::refused, ExtendedError{.text = text});
    EXPECT_LE(refused.size(), kMaximumDnsAnswer);
    EXPECT_EQ(refused.substr(refused.size() - kMaximumErrorText), text.substr(0, kMaximumErrorText));
    std::string odd = answer_failure(asked, DnsCode::refused, ExtendedError{.text = "x" + text});
    EXPECT_EQ(odd.size(), refused.size() - 1) << "no character is divided";
    EXPECT_EQ(answer_pointer(asked, asked.question->name), answer_failure(asked, DnsCode::server_failure));
}

TEST(DnsAnswer, ShowsUntrustedTextEscaped) {
    std::string answer =
        answer_failure(query(DnsType::a, true), DnsCode::refused, ExtendedError{.text = "\x1b[0m"});
    EXPECT_TRUE(answer.ends_with("\\x1b[0m"));
}

}  // namespace
}  // namespace network::wire
