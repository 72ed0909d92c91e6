// SPDX-License-Identifier: MIT
#include "policy/entry_match.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/glob.h"
#include "base/parse.h"
#include "policy/merge.h"

namespace policy {
namespace {

struct Ports {
    int first = 0;
    int last = 65535;
    bool is_any() const { return first == 0 && last == 65535; }
};

std::optional<int> number_in(std::string_view text) {
    return base::parse_number<uint16_t>(text);
}

// "443" or "8000-8100".
std::optional<Ports> ports_in(std::string_view text) {
    size_t dash = text.find('-');
    std::optional<int> first = number_in(text.substr(0, dash));
    std::optional<int> last = dash == std::string_view::npos ? first : number_in(text.substr(dash + 1));
    if (!first || !last) return std::nullopt;
    return Ports{*first, *last};
}

struct Network {
    std::array<uint8_t, 16> bytes{};
    int family = 0;
    int prefix = 0;
};

std::optional<Network> network_in(std::string_view text) {
    size_t slash = text.find('/');
    std::string address(text.substr(0, slash));
    Network network;
    for (int family : {AF_INET, AF_INET6}) {
        if (::inet_pton(family, address.c_str(), network.bytes.data()) != 1) continue;
        network.family = family;
        int widest = family == AF_INET ? 32 : 128;
        network.prefix = widest;
        if (slash != std::string_view::npos) {
            std::optional<int> prefix = number_in(text.substr(slash + 1));
            if (!prefix || *prefix > widest) return std::nullopt;
            network.prefix = *prefix;
        }
        return network;
    }
    return std::nullopt;
}

bool contains(const Network& outer, const Network& inner) {
    if (outer.family != inner.family || outer.prefix > inner.prefix) return false;
    for (int bit = 0; bit < outer.prefix; ++bit) {
        auto byte = static_cast<size_t>(bit / 8);
        int mask = 0x80 >> (bit % 8);
        if ((outer.bytes[byte] & mask) != (inner.bytes[byte] & mask)) return false;
    }
    return true;
}

struct Rule {
    std::string host;  // lower case, without a dot at the end; "*" for every host
    Ports ports;
    bool is_udp = false;  // a block without it covers both transports, an allow without it only TCP
    bool is_raw = false;  // a block with it covers only unknown protocols
};

Rule rule_in(std::string_view text) {
    Rule rule;
    rule.is_udp = text.starts_with("udp:");
    rule.is_raw = text.starts_with("raw:");
    if (rule.is_udp || rule.is_raw) text.remove_prefix(4);
    if (std::optional<Ports> ports = ports_in(text)) {
        rule.host.push_back('*');
        rule.ports = *ports;
        return rule;
    }
    size_t bracket = text.rfind(']');
    size_t colon = text.rfind(':');
    bool has_one_colon = colon != std::string_view::npos && text.find(':') == colon;
    if (colon != std::string_view::npos &&
        (has_one_colon || (bracket != std::string_view::npos && bracket < colon))) {
        if (std::optional<Ports> ports = ports_in(text.substr(colon + 1))) {
            rule.ports = *ports;
            text = text.substr(0, colon);
        }
    }
    text = base::without_brackets(text);
    while (text.ends_with('.')) text.remove_suffix(1);
    rule.host = base::lower(text);
    return rule;
}

bool covers_host(const std::string& outer, const std::string& inner) {
    if (outer == "*" || outer == inner) return true;
    if (outer.starts_with("*.")) {
        std::string_view suffix = std::string_view(outer).substr(1);
        std::string_view name = inner;
        if (name.starts_with("*.")) name.remove_prefix(1);
        return name.size() >= suffix.size() && name.ends_with(suffix) &&
               (inner.starts_with("*.") || name != suffix);
    }
    std::optional<Network> network = network_in(outer);
    std::optional<Network> asked = network_in(inner);
    return network && asked && contains(*network, *asked);
}

}  // namespace

bool matches_variable_pattern(std::string_view pattern, std::string_view name) {
    bool ignore_case = pattern.ends_with("/i");
    if (ignore_case) pattern.remove_suffix(2);
    return base::matches_name(pattern, name, ignore_case);
}

bool covers_rule(std::string_view outer_text, std::string_view inner_text) {
    Rule outer = rule_in(outer_text);
    Rule inner = rule_in(inner_text);
    bool ports_covered = outer.ports.first <= inner.ports.first && inner.ports.last <= outer.ports.last;
    bool transport_covered = (!outer.is_udp || inner.is_udp) && (!outer.is_raw || inner.is_raw);
    return transport_covered && ports_covered && covers_host(outer.host, inner.host);
}

base::Result<base::Path> entry_path(const config::Setting& setting, const config::Item& item,
                                    const PathMeaning& paths) {
    std::string_view text = item.text;
    base::Path path;
    if (setting.type == config::Type::home_list) {
        path = paths.home / text;
    } else if (text == "~" || text.starts_with("~/")) {
        path = paths.home / text.substr(1);
    } else {
        base::Result<base::Path> absolute = base::Path::parse(text);
        if (!absolute) {
            base::Error error = absolute.error();
            error.where = item.origin.describe();
            return error;
        }
        path = *absolute;
    }
    // For a pattern, compare the directory before its first wildcard.
    while (base::has_wildcard(path.str())) path = path.parent();
    return paths.canonical(path);
}

}  // namespace policy
