// SPDX-License-Identifier: MIT
// One entry of network.block or network.allow.
//
//   api.example.org      a host                       10.20.0.0/16   a network, or one address
//   api.example.org:443  a host at a port             10.0.0.0/8:22  a network at a port
//   *.example.org        its subdomains, not itself   [2001:db8::1]:443
//   a.*.example.org      one label in between         443, 8000-8100 a port of any host
//   udp:ENTRY            the same for UDP             *              every host
//   raw:ENTRY            for TCP whose bytes are not read
//
// A block without "udp:" closes TCP and UDP. An allow without it opens TCP alone: UDP is open only if it is
// named. "raw:" is for protocols that carry no name to judge. A "raw:" allow also opens TCP, and the bytes
// are not read. A "raw:" block closes unknown protocols but not TLS, HTTP and ssh. The most specific rule
// wins: host, longer network, shorter network, longer wildcard, shorter wildcard, *, port alone. Within each
// of these, fewer ports win against more.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/origin.h"
#include "rules/address.h"

namespace network {

enum class Side { block, allow };
// raw: TCP with a protocol that carries no name to judge.
enum class Transport { tcp, udp, raw };
enum class Target { port, any, wildcard, network, host };  // least specific first

std::string_view to_text(Transport transport);

struct Ports {
    uint16_t first = 1;
    uint16_t last = 65535;

    bool contains(uint16_t port) const { return port >= first && port <= last; }
    bool is_any() const { return first == 1 && last == 65535; }
    bool is_single() const { return first == last; }
    int count() const { return last - first + 1; }
    bool operator==(const Ports&) const = default;
};

struct Specificity {
    Target target;
    int length;  // for a network its bits, for a wildcard its fixed labels
    int narrowness;
    auto operator<=>(const Specificity&) const = default;
};

struct Rule {
    Side side = Side::block;
    Target target = Target::any;
    std::string name;  // of a host, or of a wildcard with its star
    Prefix prefix;     // of a network
    Ports ports;
    bool is_udp_only = false;
    bool is_raw = false;

    std::string text;       // as it was written
    std::string bundle;     // the bundle that contains it, or empty
    config::Origin origin;  // of the entry, or of the entry that named the bundle
    std::string reason;     // for shipped rules

    bool names_ports() const { return target == Target::port || !ports.is_any(); }
    bool is_for(Transport transport) const;
    Specificity specificity() const;
};

// Parses the text; the caller fills in origin and reason. The error contains the fault and the correct
// syntax. A wildcard over a public suffix is refused in an allow. It is accepted in a block.
base::Result<Rule> parse_rule(std::string_view text, Side side);

}  // namespace network
