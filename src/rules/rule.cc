// SPDX-License-Identifier: MIT
#include "rules/rule.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/parse.h"
#include "base/text.h"
#include "rules/names/name.h"

namespace network {
namespace {

using base::Error;
using base::Result;
using base::Status;

Error refusal(std::string_view text, std::string_view why, std::string advice) {
    return Error{.what = base::format("{} is not a network rule: {}", in_quotes(text), why),
                 .advice = std::move(advice)};
}

Error refusal(std::string_view text, const Error& cause) {
    return refusal(text, cause.what, cause.advice);
}

Result<Ports> parse_ports(std::string_view text) {
    constexpr const char* kAdvice = "write a port from 1 to 65535, or two with a '-' between them";
    size_t dash = text.find('-');
    std::optional<uint16_t> first = base::parse_port(text.substr(0, dash));
    std::optional<uint16_t> last =
        dash == std::string_view::npos ? first : base::parse_port(text.substr(dash + 1));
    if (!first || !last) return Error{.what = in_quotes(text) + " is not a port", .advice = kAdvice};
    if (*first > *last) return Error{.what = in_quotes(text) + " ends before it begins", .advice = kAdvice};
    return Ports{*first, *last};
}

bool looks_like_ports(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789-") == std::string_view::npos;
}

// The parts before and after the colon that precedes the ports. Without ports there is no second part.
struct Halves {
    std::string_view host;
    std::optional<std::string_view> ports;
};

Result<Halves> split_ports(std::string_view text) {
    if (text.starts_with('[')) {
        size_t close = text.find(']');
        constexpr const char* kAdvice = "write [2001:db8::1]:443";
        if (close == std::string_view::npos)
            return Error{.what = "a bracket is left open", .advice = kAdvice};
        std::string_view host = text.substr(1, close - 1), rest = text.substr(close + 1);
        if (host.find(':') == std::string_view::npos)
            return Error{.what = "brackets are for IPv6", .advice = kAdvice};
        if (rest.empty()) return Halves{host, std::nullopt};
        if (rest.front() != ':') return Error{.what = "something follows the bracket", .advice = kAdvice};
        return Halves{host, rest.substr(1)};
    }
    // In 2001:db8::/32:443 the colon after the slash precedes the port.
    size_t slash = text.find('/');
    size_t colon = text.find(':', slash == std::string_view::npos ? 0 : slash);
    if (colon == std::string_view::npos) return Halves{text, std::nullopt};
    bool is_bare_v6 = slash == std::string_view::npos && text.find(':', colon + 1) != std::string_view::npos;
    if (is_bare_v6) return Halves{text, std::nullopt};
    return Halves{text.substr(0, colon), text.substr(colon + 1)};
}

// Parses "*.suffix" or "a.*.suffix". Normalises it as a name with an ordinary label in place of the star.
Status read_wildcard(std::string_view host, Rule& rule) {
    constexpr const char* kAdvice = "write *.example.org, or a.*.example.org for one label";
    std::vector<std::string_view> labels = base::split(host, '.');
    auto star = std::ranges::find(labels, "*");
    bool is_alone = star != labels.end() && std::ranges::count(host, '*') == 1;
    if (!is_alone) return Error{.what = "a '*' stands for a whole label, and once", .advice = kAdvice};
    auto position = static_cast<size_t>(star - labels.begin());
    std::string filled(host);
    filled[host.find('*')] = 'x';
    Result<HostName> name = HostName::parse(filled);
    if (!name) return name.error();
    std::vector<std::string_view> fixed = name->labels();
    if (position + 1 >= fixed.size()) return Error{.what = "nothing follows the '*'", .advice = kAdvice};

    std::string_view last_label = fixed[position];
    std::string_view whole = name->str();
    auto offset = static_cast<size_t>(last_label.data() - whole.data());
    std::string_view suffix = whole.substr(offset + last_label.size() + 1);
    if (rule.side == Side::allow && is_public_suffix(suffix)) {
        return Error{.what = "any person can register a name below " + std::string(suffix),
                     .advice = "name the hosts"};
    }
    rule.target = Target::wildcard;
    rule.name = base::format("{}*.{}", whole.substr(0, offset), suffix);
    return base::success();
}

// Whether the text is meant as an address, valid or not: the error for "10.0.0/8" should explain networks,
// the one for "a.org/x" names.
bool looks_like_network(std::string_view host) {
    if (host.find(':') != std::string_view::npos) return true;
    size_t slash = host.find('/');
    bool has_numbers_alone = host.substr(0, slash).find_first_not_of("0123456789.") == std::string_view::npos;
    return has_numbers_alone && (slash != std::string_view::npos || Address::parse(host));
}

Status read_host(std::string_view host, Rule& rule) {
    if (looks_like_network(host)) {
        Result<Prefix> prefix = Prefix::parse(host);
        if (!prefix) return prefix.error();
        rule.target = Target::network;
        rule.prefix = *prefix;
        return base::success();
    }
    if (host.find('*') != std::string_view::npos) return read_wildcard(host, rule);
    if (host.starts_with('.') && host.size() > 1) {
        return Error{.what = "it begins with a dot",
                     .advice = base::format("write *{} for subdomains", base::printable(host))};
    }
    Result<HostName> name = HostName::parse(host);
    if (!name) return name.error();
    if (name->str() == "tcp" || name->str() == "udp" || name->str() == "raw") {
        return Error{.what = "only udp: and raw: in lower case stand in front of an entry",
                     .advice = "write 443 for TCP, udp:443 for UDP"};
    }
    rule.target = Target::host;
    rule.name = name->str();
    return base::success();
}

// For the error message: users often paste a URL.
std::string host_of_url(std::string_view text) {
    text.remove_prefix(text.find("://") + 3);
    std::string_view host = text.substr(0, text.find_first_of("/?#"));
    host = host.substr(host.rfind('@') + 1);
    return host.empty() ? "the host" : base::printable(host);
}

Status read_target(std::string_view body, Rule& rule) {
    if (body == "*") return base::success();
    if (body.starts_with("*:")) {
        return Error{.what = "a port of every host is written without a host",
                     .advice = "write " + base::printable(body.substr(2))};
    }
    if (looks_like_ports(body)) {
        Result<Ports> ports = parse_ports(body);
        if (!ports) return ports.error();
        rule.target = Target::port;
        rule.ports = *ports;
        return base::success();
    }
    Result<Halves> halves = split_ports(body);
    if (!halves) return halves.error();
    if (halves->ports) {
        Result<Ports> ports = parse_ports(*halves->ports);
        if (!ports) return ports.error();
        rule.ports = *ports;
    }
    return read_host(halves->host, rule);
}

}  // namespace

std::string_view to_text(Transport transport) {
    switch (transport) {
        case Transport::tcp:
            return "tcp";
        case Transport::udp:
            return "udp";
        case Transport::raw:
            return "raw";
    }
    return "";
}

bool Rule::is_for(Transport transport) const {
    switch (transport) {
        case Transport::tcp:
            return !is_udp_only && !(is_raw && side == Side::block);
        case Transport::udp:
            return is_udp_only || (side == Side::block && !is_raw);
        case Transport::raw:
            return is_raw;
    }
    return false;
}

Specificity Rule::specificity() const {
    int length = 0;
    if (target == Target::network) length = prefix.length();
    if (target == Target::wildcard) length = static_cast<int>(std::ranges::count(name, '.'));
    return {target, length, 65535 - ports.count()};
}

Result<Rule> parse_rule(std::string_view text, Side side) {
    if (text.empty()) return refusal(text, "it is empty", "write a host, a network, a port or *");
    if (text.size() > 1024) return refusal(text, "it is too long", "write one host, network or port");
    if (text.find("://") != std::string_view::npos) {
        return refusal(text, "it is a URL", "write " + host_of_url(text));
    }
    if (text.starts_with('@'))
        return refusal(text, "a bundle is not one rule", "name it in network.allow or network.block");
    Rule rule{.side = side, .text = std::string(text)};
    std::string_view body = text;
    if (body.starts_with("udp:")) {
        rule.is_udp_only = true;
        body.remove_prefix(4);
    } else if (body.starts_with("raw:")) {
        rule.is_raw = true;
        body.remove_prefix(4);
    }
    if (body.starts_with("udp:") || body.starts_with("raw:")) {
        return refusal(text, "it has two words in front", "write udp: or raw:, not both");
    }
    if (Status read = read_target(body, rule); !read) return refusal(text, read.error());
    return rule;
}

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
