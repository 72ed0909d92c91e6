// SPDX-License-Identifier: MIT
// DNS messages as they come from the jail (RFC 1035, EDNS after RFC 6891). Any bytes get a verdict; a query
// that is not understood still yields what is needed to answer it with the right code.
//
// Strict on purpose: one question, no compression in it (nothing stands before it that it could point to), no
// answers, at most one OPT, and not a byte after the last record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "network/wire/authority.h"

namespace network::wire {

constexpr size_t kDnsHeader = 12;
constexpr size_t kMaximumDnsQuery = 4096;      // the largest seen in the wild are padded to 468
constexpr size_t kMaximumDnsName = 255;        // in wire form, with the root's zero
constexpr unsigned kMaximumDnsAdditional = 4;  // OPT and signatures

// Any other number is a type as well.
enum class DnsType : uint16_t {
    a = 1,
    cname = 5,
    soa = 6,
    ptr = 12,
    mx = 15,
    txt = 16,
    aaaa = 28,
    srv = 33,
    opt = 41,
    svcb = 64,
    https = 65,
    any = 255,
};

constexpr uint16_t kClassInternet = 1;

// A name in wire form, uncompressed, of any bytes and with their case: answers must repeat the question as it
// was put.
class DnsName {
  public:
    DnsName() : wire_(1, '\0') {}  // the root
    static std::optional<DnsName> from_host_name(std::string_view text);

    // Reads at `at` and moves it behind the name. Pointers must lead backwards, each further than the last.
    enum class Pointers { refused, followed };
    static std::optional<DnsName> read(std::string_view message, size_t& at, Pointers pointers);

    const std::string& wire() const { return wire_; }

    // For people and logs: printable ASCII, other bytes as \DDD, a dot within a label as \. ; "." for the
    // root.
    std::string text() const;

    // Without the dot at the end, when every label is made of host name characters. The root has none.
    std::optional<std::string> host_name() const;

    bool equals_ignoring_case(const DnsName& other) const;

  private:
    std::string wire_;
};

struct DnsQuestion {
    DnsName name;
    DnsType type{};
    uint16_t dns_class = kClassInternet;
};

struct Edns {
    uint16_t payload = 512;  // what the asker can take over UDP
    uint8_t version = 0;
    bool wants_dnssec = false;
};

struct DnsQuery {
    uint16_t id = 0;
    uint8_t opcode = 0;
    bool wants_recursion = false;
    bool disables_checking = false;
    std::optional<DnsQuestion> question;  // absent when it could not be read
    std::optional<Edns> edns;
};

enum class DnsVerdict {
    query,
    ignore,  // shorter than a header or an answer itself: replying could start a loop
    form_error,
    not_implemented,  // another opcode or class
    bad_version,      // EDNS above 0
};

struct ParsedDnsQuery {
    DnsVerdict verdict = DnsVerdict::ignore;
    DnsQuery query;
};

ParsedDnsQuery parse_dns_query(std::string_view message);

// The address that a name below in-addr.arpa or ip6.arpa spells, every part of it present.
std::optional<Ipv4> reverse_ipv4(const DnsName& name);
std::optional<Ipv6> reverse_ipv6(const DnsName& name);

// DNS over TCP: each message behind its length in two bytes.
struct DnsFrame {
    enum class State { need_more, message, refused };
    State state = State::need_more;
    std::string_view message;
};

// The first message of `received`, which is moved behind it. A length that no query has is refused before
// the message arrives.
DnsFrame take_dns_frame(std::string_view& received);
std::string dns_frame(std::string_view message);

}  // namespace network::wire
