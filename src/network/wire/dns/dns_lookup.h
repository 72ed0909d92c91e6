// SPDX-License-Identifier: MIT
// The client's side of DNS: writes a query to the host's resolver and parses its answer. The resolver is
// trusted with names, not with our memory: its bytes are parsed as strictly as the jail's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "network/wire/dns/dns.h"

namespace network::wire {

constexpr unsigned kMaximumDnsRecords = 256;
constexpr unsigned kMaximumAliases = 16;

// `has_edns` false: the reply goes unchanged to a client that does not use EDNS.
std::string write_dns_query(uint16_t id, const DnsQuestion& question, bool has_edns = true);

struct DnsReply {
    enum class Kind {
        answer,
        not_ours,   // another id or question: ignored, because it may be forged
        truncated,  // query again over TCP
        malformed,
    };
    Kind kind = Kind::not_ours;
    DnsCode code = DnsCode::no_error;
    // Of the queried name, or of the name at the end of its aliases. Records of other names are left out.
    std::vector<Ipv4> ipv4;
    std::vector<Ipv6> ipv6;
    uint32_t time_to_live = 0;  // seconds; the shortest of the addresses and of the aliases that led to them
};

DnsReply parse_dns_reply(std::string_view message, uint16_t id, const DnsQuestion& question);

}  // namespace network::wire
