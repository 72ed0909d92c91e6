// SPDX-License-Identifier: MIT
// Finds the rule that decides without a walk over all rules: names by hash, wildcards by the hash of each
// suffix of the name, networks by the hash of the address cut to each length in use. Building takes time in
// proportion to the rules, a query in proportion to the labels of the name.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "rules/address.h"
#include "rules/names/name.h"
#include "rules/rule.h"

namespace network {

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
