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
// An entry without "udp:" that blocks closes TCP and UDP; one that allows opens TCP alone: UDP is open only
// where it is named. "raw:" speaks of protocols in which no name can be judged: such an entry that allows
// opens TCP too and nothing that is sent is read; one that blocks closes unknown protocols and leaves TLS,
// HTTP and ssh. The most specific rule wins: host, longer network, shorter, longer wildcard, shorter, *, bare
// port; within each of these, fewer ports before more.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/origin.h"
#include "network/rules/address.h"

namespace network {

enum class Side { block, allow };
// raw: TCP whose bytes are of a protocol in which no name can be judged.
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
    int length;  // of a network its bits, of a wildcard its fixed labels
    int narrowness;
    auto operator<=>(const Specificity&) const = default;
};

struct Rule {
    Side side = Side::block;
    Target target = Target::any;
    std::string name;  // of a host; of a wildcard with its star
    Prefix prefix;     // of a network
    Ports ports;
    bool is_udp_only = false;
    bool is_raw = false;

    std::string text;       // as it was written
    std::string bundle;     // the bundle that it came with, or empty
    config::Origin origin;  // of the entry, or of the entry that named the bundle
    std::string reason;     // of rules that are shipped

    bool names_ports() const { return target == Target::port || !ports.is_any(); }
    bool is_for(Transport transport) const;
    Specificity specificity() const;
};

// What the text says; origin and reason are the caller's to fill in. The error says what is wrong and how it
// is written. A wildcard over a public suffix is refused where it would open, and may close.
base::Result<Rule> parse_rule(std::string_view text, Side side);

}  // namespace network
