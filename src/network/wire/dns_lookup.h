// SPDX-License-Identifier: MIT
// The asker's side of DNS: a question to the host's resolver and what its answer says. The resolver is
// trusted with names, not with our memory: its bytes are read as strictly as the jail's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "network/wire/dns.h"
#include "network/wire/dns_answer.h"

namespace network::wire {

constexpr unsigned kMaximumDnsRecords = 256;
constexpr unsigned kMaximumAliases = 16;

// `has_edns` false: for somebody who does not speak it and will be handed the reply as it is.
std::string write_dns_query(uint16_t id, const DnsQuestion& question, bool has_edns = true);

struct DnsReply {
    enum class Verdict {
        answer,
        not_ours,   // another id or question: to be ignored, as a forger's would be
        truncated,  // ask again over TCP
        malformed,
    };
    Verdict verdict = Verdict::not_ours;
    DnsCode code = DnsCode::no_error;
    // Of the name asked for or of the one its aliases end at; records of other names are left out.
    std::vector<Ipv4> ipv4;
    std::vector<Ipv6> ipv6;
    uint32_t time_to_live =
        0;  // seconds; the shortest of the addresses' and of the aliases' that led to them
};

DnsReply parse_dns_reply(std::string_view message, uint16_t id, const DnsQuestion& question);

}  // namespace network::wire
