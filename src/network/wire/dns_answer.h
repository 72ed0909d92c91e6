// SPDX-License-Identifier: MIT
// Answers to the jail's queries. Every answer fits into the 512 bytes that any asker takes over UDP, repeats
// the question as it was put, and speaks EDNS only to those who did.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "network/wire/dns.h"

namespace network::wire {

constexpr size_t kMaximumDnsAnswer = 512;
constexpr size_t kMaximumErrorText = 200;
constexpr uint32_t kShortTimeToLive =
    10;  // seconds; a name keeps its address, yet nothing outlives the session long

enum class DnsCode : uint16_t {
    no_error = 0,
    form_error = 1,
    server_failure = 2,
    no_such_name = 3,
    not_implemented = 4,
    refused = 5,
    bad_version = 16,
};

// RFC 8914. Blocked is the word for the policy of whoever runs the server.
enum class ExtendedCode : uint16_t {
    other = 0,
    blocked = 15,
    filtered = 17,
    prohibited = 18,
    not_supported = 21,
    network_error = 23,
};

struct ExtendedError {
    ExtendedCode code = ExtendedCode::blocked;
    std::string_view text;  // cut at kMaximumErrorText, unprintable bytes escaped
};

std::string answer_address(const DnsQuery& query, const Ipv4& address,
                           uint32_t time_to_live = kShortTimeToLive);
std::string answer_address(const DnsQuery& query, const Ipv6& address,
                           uint32_t time_to_live = kShortTimeToLive);

// PTR. A question so long that the answer would not fit (none that spells an address is) gets SERVFAIL.
std::string answer_pointer(const DnsQuery& query, const DnsName& target,
                           uint32_t time_to_live = kShortTimeToLive);

// The name is there, this type of record is not: the polite answer to HTTPS, SVCB and to AAAA without IPv6.
std::string answer_no_data(const DnsQuery& query);

std::string answer_failure(const DnsQuery& query, DnsCode code,
                           const std::optional<ExtendedError>& error = std::nullopt);

// What a query that was not understood is answered; nothing for one that is to be ignored.
std::optional<std::string> answer_fault(const ParsedDnsQuery& parsed);

}  // namespace network::wire
