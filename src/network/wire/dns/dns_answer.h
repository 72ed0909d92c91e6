// SPDX-License-Identifier: MIT
// Answers to the jail's queries. Every answer fits into the 512 bytes that any client accepts over UDP,
// repeats the question unchanged, and uses EDNS only if the query did.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "network/wire/dns/dns.h"

namespace network::wire {

constexpr size_t kMaximumDnsAnswer = 512;
constexpr size_t kMaximumErrorText = 200;
constexpr uint32_t kShortTimeToLive =
    10;  // seconds; a name keeps its address, but caches should not outlive the session by much

enum class DnsCode : uint16_t {
    no_error = 0,
    form_error = 1,
    server_failure = 2,
    no_such_name = 3,
    not_implemented = 4,
    refused = 5,
    bad_version = 16,
};

// RFC 8914. "Blocked" is the code for a policy of the server's operator.
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

// PTR. SERVFAIL for a question so long that the answer would not fit; no name of an address is that long.
std::string answer_pointer(const DnsQuery& query, const DnsName& target,
                           uint32_t time_to_live = kShortTimeToLive);

// The name exists, this type of record does not: for HTTPS, SVCB, and AAAA without IPv6.
std::string answer_no_data(const DnsQuery& query);

std::string answer_failure(const DnsQuery& query, DnsCode code,
                           const std::optional<ExtendedError>& error = std::nullopt);

// The answer to a query that could not be parsed. Nothing for one that is ignored.
std::optional<std::string> answer_fault(const ParsedDnsQuery& parsed);

}  // namespace network::wire
