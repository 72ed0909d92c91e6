// SPDX-License-Identifier: MIT
// The entries of network.block and network.allow, and the table that finds the entry which decides.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "config/value.h"
#include "rules/address.h"
#include "rules/names/name.h"

namespace network {

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

// Finds the rule that decides without a walk over all rules: names by hash, wildcards by the hash of each
// suffix of the name, networks by the hash of the address cut to each length in use. Building takes time in
// proportion to the rules, a query in proportion to the labels of the name.

// A connection that a program asks for. With a name and an address, the address is the result of resolving
// the name.
struct ConnectionAttempt {
    const HostName* name = nullptr;
    const Address* address = nullptr;
    uint16_t port = 0;
    Transport transport = Transport::tcp;
    // For an address without a name: rules that allow every host or a port do not apply to it.
    bool only_networks_allow = false;
    bool only_blocks = false;
};

// Whether `rule` decides before `other` if both match: by specificity, then blocks before allows, then the
// administrator's first. Shipped blocks come last, so that an equally specific entry overrides them.
bool decides_before(const Rule& rule, const Rule& other);

class RuleTable {
  public:
    RuleTable() = default;
    explicit RuleTable(std::vector<Rule> rules);

    // The rule that decides, or null if no rule matches. Valid as long as the table.
    const Rule* find(const ConnectionAttempt& attempt) const;

    // Every rule about this name on some port, for questions without a port.
    std::vector<const Rule*> about(const HostName& name) const;

  private:
    // Numbers of rules about one host, network or wildcard: single ports first, in order, then ranges from
    // narrow to wide.
    struct Slot {
        std::vector<uint32_t> numbers;
        size_t singles = 0;
    };
    struct TextHash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    using Slots = std::unordered_map<std::string, Slot, TextHash, std::equal_to<>>;

    Slot& slot_for(const Rule& rule);
    void arrange(Slot& slot);
    bool applies(const Rule& rule, const ConnectionAttempt& attempt) const;
    const Rule* first_in(const Slot& slot, const ConnectionAttempt& attempt) const;

    template <typename Visit>
    void visit_name(const HostName& name, Visit visit) const;
    template <typename Visit>
    void visit_address(const Address& address, Visit visit) const;

    std::vector<Rule> rules_;
    Slots hosts_;
    Slots suffixes_;  // "*.example.org" by "example.org"
    Slots inner_;     // "a.*.example.org" as it is
    std::unordered_map<Prefix, Slot> networks_;
    std::set<int> lengths_;  // of the prefixes in use
    Slot any_;
    Slot ports_;
};

}  // namespace network
