// SPDX-License-Identifier: MIT
// Properties of names, addresses and rules made from any bytes. The unit tests check them with the seeds and
// with damaged seeds, the fuzzer with its mutations of the seeds.
#pragma once

#include <string>
#include <string_view>

#include "rules/built_in_rules.h"
#include "rules/engine.h"

namespace network {

inline const char* broken_for_name(std::string_view text) {
    auto name = HostName::parse(text);
    if (!name) return name.error().what.empty() ? "a name is refused without a word" : nullptr;
    const std::string& normal = name->str();
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
    if (normal.find_first_not_of(kLetters) != std::string::npos) return "a name holds what no name may";
    if (normal.empty() || normal.size() > 253 || normal.ends_with('.'))
        return "a name has a wrong length or end";
    if (Address::parse(text) || Address::parse(normal)) return "a name is an address too";
    auto again = HostName::parse(normal);
    return again.ok() && *again == *name ? nullptr : "the normal form of a name is not stable";
}

inline const char* broken_for_address(std::string_view text) {
    if (auto address = Address::parse(text)) {
        auto again = Address::parse(address->str());
        if (!again.ok() || *again != *address) return "the text of an address is not stable";
        if (!Prefix(*address).contains(*address)) return "a network lacks its only address";
        for (const Embedded& inner : embedded_addresses(*address)) {
            if (find_closed(inner.address, {}) && !find_closed(*address, {}))
                return "a closed address is open in disguise";
        }
    }
    if (auto prefix = Prefix::parse(text)) {
        auto again = Prefix::parse(prefix->str());
        if (!again.ok() || *again != *prefix) return "the text of a network is not stable";
    }
    return nullptr;
}

inline const char* broken_for_rule(std::string_view text, Side side) {
    auto rule = parse_rule(text, side);
    if (!rule) return rule.error().line().find('\n') == std::string::npos ? nullptr : "a message spans lines";
    if (rule->ports.first < 1 || rule->ports.first > rule->ports.last) return "a rule has impossible ports";
    if (rule->target != Target::host) return nullptr;
    std::vector<config::Item> items = {{std::string(text), config::from_flag("--block-host")}};
    std::vector<config::Item> star = {{"*", config::from_flag("--block-host")}};
    bool is_block = side == Side::block;
    auto engine = Engine::make(
        {.block = is_block ? items : star, .allow = is_block ? star : items, .has_shipped_list = false});
    if (!engine) return "a rule is read once and not twice";
    // A raw entry that blocks closes only streams of unknown protocols.
    Transport other = rule->is_raw && is_block ? Transport::raw : Transport::tcp;
    Transport transport = rule->is_udp_only ? Transport::udp : other;
    Verdict verdict = engine->decide({*HostName::parse(rule->name), rule->ports.first, transport});
    if (verdict.cause == Cause::port_floor) return nullptr;
    return verdict.is_allowed() == !is_block ? nullptr : "a rule about a host does not decide about it";
}

// The claim that these bytes break, or null.
inline const char* broken_property(std::string_view text) {
    if (const char* broken = broken_for_name(text)) return broken;
    if (const char* broken = broken_for_address(text)) return broken;
    for (Side side : {Side::block, Side::allow}) {
        if (const char* broken = broken_for_rule(text, side)) return broken;
    }
    (void)parse_host(text);
    return nullptr;
}

}  // namespace network
