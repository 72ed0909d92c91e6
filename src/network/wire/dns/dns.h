// SPDX-License-Identifier: MIT
// DNS messages from the jail, and the answers to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "network/wire/http/http_head.h"

namespace network::wire {

// DNS messages from the jail (RFC 1035, EDNS after RFC 6891). Any bytes get a verdict. A query that cannot be
// parsed still yields the fields that an answer with the right code needs.
//
// Strict on purpose: one question, no compression in it (there is no earlier name to point to), no answers,
// at most one OPT, and no byte after the last record.

constexpr size_t kDnsHeader = 12;
constexpr uint16_t kIsAnswer = 0x8000;  // flags of a message
constexpr uint16_t kRecursionDesired = 0x0100;
constexpr size_t kMaximumDnsQuery = 4096;      // the largest known ones are padded to 468
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

// A name in wire form, uncompressed, of any bytes and in their original case: an answer must repeat the
// question unchanged.
class DnsName {
  public:
    DnsName() : wire_(1, '\0') {}  // the root
    static std::optional<DnsName> from_host_name(std::string_view text);

    // Reads at `at` and moves it past the name. Pointers must lead backwards, each further than the last.
    enum class Pointers { refused, followed };
    static std::optional<DnsName> read(std::string_view message, size_t& at, Pointers pointers);

    const std::string& wire() const { return wire_; }

    // For users and logs: printable ASCII, other bytes as \DDD, a dot within a label as \. ; "." for the
    // root.
    std::string text() const;

    // Without the final dot, if every label consists of host name characters. Nothing for the root.
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
    uint16_t payload = 512;  // the largest UDP answer that the client accepts
    uint8_t version = 0;
    bool wants_dnssec = false;
};

struct DnsQuery {
    uint16_t id = 0;
    uint8_t opcode = 0;
    bool wants_recursion = false;
    bool disables_checking = false;
    std::optional<DnsQuestion> question;  // empty if it could not be parsed
    std::optional<Edns> edns;
};

enum class DnsVerdict {
    query,
    ignore,  // shorter than a header, or an answer: a reply could start a loop
    form_error,
    not_implemented,  // another opcode or class
    bad_version,      // EDNS above 0
};

struct ParsedDnsQuery {
    DnsVerdict verdict = DnsVerdict::ignore;
    DnsQuery query;
};

ParsedDnsQuery parse_dns_query(std::string_view message);

// The address of a complete name below in-addr.arpa or ip6.arpa.
std::optional<Ipv4> reverse_ipv4(const DnsName& name);
std::optional<Ipv6> reverse_ipv6(const DnsName& name);

// DNS over TCP: two bytes of length before each message.
struct DnsFrame {
    enum class State { need_more, message, refused };
    State state = State::need_more;
    std::string_view message;
};

// Returns the first message of `received` and removes it there. A length that no query has is refused before
// the message arrives.
DnsFrame take_dns_frame(std::string_view& received);
std::string dns_frame(std::string_view message);

// Answers to the jail's queries. Every answer fits into the 512 bytes that any client accepts over UDP,
// repeats the question unchanged, and uses EDNS only if the query did.

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
