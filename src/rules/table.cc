// SPDX-License-Identifier: MIT
#include "rules/table.h"

#include <algorithm>
#include <tuple>

namespace network {
namespace {

// Order at equal specificity.
int rank(const Rule& rule) {
    if (rule.side == Side::allow) return 1;
    return rule.origin.layer == config::Layer::builtin ? 2 : 0;
}

bool is_admins(const Rule& rule) {
    return rule.origin.layer == config::Layer::admin;
}

template <typename Map, typename Key, typename Visit>
void visit_at(const Map& slots, const Key& key, Visit visit) {
    if (auto found = slots.find(key); found != slots.end()) visit(found->second);
}

}  // namespace

bool decides_before(const Rule& rule, const Rule& other) {
    Specificity mine = rule.specificity(), its = other.specificity();
    if (mine != its) return mine > its;
    return std::tuple(rank(rule), !is_admins(rule)) < std::tuple(rank(other), !is_admins(other));
}

RuleTable::RuleTable(std::vector<Rule> rules) : rules_(std::move(rules)) {
    for (uint32_t number = 0; number < rules_.size(); ++number)
        slot_for(rules_[number]).numbers.push_back(number);
    for (Slots* slots : {&hosts_, &suffixes_, &inner_}) {
        for (auto& [name, slot] : *slots) arrange(slot);
    }
    for (auto& [prefix, slot] : networks_) arrange(slot);
    arrange(any_);
    arrange(ports_);
}

RuleTable::Slot& RuleTable::slot_for(const Rule& rule) {
    switch (rule.target) {
        case Target::host:
            return hosts_[rule.name];
        case Target::wildcard:
            return rule.name.starts_with("*.") ? suffixes_[rule.name.substr(2)] : inner_[rule.name];
        case Target::network:
            lengths_.insert(rule.prefix.length());
            return networks_[rule.prefix];
        case Target::any:
            return any_;
        case Target::port:
            return ports_;
    }
    return any_;
}

void RuleTable::arrange(Slot& slot) {
    std::ranges::sort(slot.numbers, [&](uint32_t left, uint32_t right) {
        const Rule &a = rules_[left], &b = rules_[right];
        // Ranges of one width may overlap; then block or allow decides. A single port only overlaps with an
        // equal one.
        if (a.ports.is_single() && b.ports.is_single() && a.ports.first != b.ports.first) {
            return a.ports.first < b.ports.first;
        }
        if (decides_before(a, b)) return true;
        return !decides_before(b, a) && left < right;
    });
    auto is_single = [&](uint32_t number) { return rules_[number].ports.is_single(); };
    slot.singles =
        static_cast<size_t>(std::ranges::partition_point(slot.numbers, is_single) - slot.numbers.begin());
}

bool RuleTable::applies(const Rule& rule, const ConnectionAttempt& attempt) const {
    if (!rule.ports.contains(attempt.port) || !rule.is_for(attempt.transport)) return false;
    if (rule.side == Side::block) return true;
    return !attempt.only_blocks && (!attempt.only_networks_allow || rule.target == Target::network);
}

const Rule* RuleTable::first_in(const Slot& slot, const ConnectionAttempt& attempt) const {
    auto ranges = slot.numbers.begin() + static_cast<ptrdiff_t>(slot.singles);
    auto port_of = [&](uint32_t number) { return rules_[number].ports.first; };
    auto single = std::ranges::lower_bound(slot.numbers.begin(), ranges, attempt.port, {}, port_of);
    for (; single != ranges && port_of(*single) == attempt.port; ++single) {
        if (applies(rules_[*single], attempt)) return &rules_[*single];
    }
    for (; ranges != slot.numbers.end(); ++ranges) {
        if (applies(rules_[*ranges], attempt)) return &rules_[*ranges];
    }
    return nullptr;
}

template <typename Visit>
void RuleTable::visit_name(const HostName& name, Visit visit) const {
    std::string_view text = name.str();
    visit_at(hosts_, text, visit);
    for (size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.', dot + 1)) {
        visit_at(suffixes_, text.substr(dot + 1), visit);
        if (inner_.empty()) continue;
        size_t end = text.find('.', dot + 1);
        if (end == std::string_view::npos) break;
        visit_at(inner_, std::string(text.substr(0, dot + 1)) + "*" + std::string(text.substr(end)), visit);
    }
}

template <typename Visit>
void RuleTable::visit_address(const Address& address, Visit visit) const {
    for (int length : lengths_) {
        Prefix prefix = Prefix::around(address, length);
        if (prefix.contains(address)) visit_at(networks_, prefix, visit);
    }
}

const Rule* RuleTable::find(const ConnectionAttempt& attempt) const {
    const Rule* best = nullptr;
    ConnectionAttempt now = attempt;
    auto consider = [&](const Slot& slot) {
        const Rule* rule = first_in(slot, now);
        if (rule && (!best || decides_before(*rule, *best))) best = rule;
    };
    if (attempt.name) visit_name(*attempt.name, consider);
    consider(any_);
    consider(ports_);
    if (!attempt.address) return best;
    visit_address(*attempt.address, consider);
    for (const Embedded& inner : embedded_addresses(*attempt.address)) {
        // The end of a tunnel is a different host from the allowed one, but it may be a blocked one.
        now.only_blocks = attempt.only_blocks || !inner.is_same_host;
        visit_address(inner.address, consider);
    }
    return best;
}

std::vector<const Rule*> RuleTable::about(const HostName& name) const {
    std::vector<const Rule*> found;
    auto collect = [&](const Slot& slot) {
        for (uint32_t number : slot.numbers) found.push_back(&rules_[number]);
    };
    visit_name(name, collect);
    collect(any_);
    collect(ports_);
    return found;
}

}  // namespace network
