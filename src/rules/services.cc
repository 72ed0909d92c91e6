// SPDX-License-Identifier: MIT
#include "rules/services.h"

#include <algorithm>

#include "base/encoding/base64.h"
#include "base/parse.h"
#include "base/text.h"
#include "rules/built_in_rules.h"
#include "rules/engine.h"

namespace network {
namespace {

using base::Error;
using base::Result;

Error refusal(std::string_view setting, const config::Item& item, std::string_view why, std::string advice) {
    return Error{.what = base::format("{}: {} {}", setting, in_quotes(item.text), why),
                 .advice = std::move(advice),
                 .where = item.origin.describe()};
}

// ---- Services of the host

constexpr std::string_view kServices = "network.host_services";

// Refuses ports of the floor (except for the administrator), public addresses, and addresses that can never
// be opened.
base::Status check_service(const HostService& service, const config::Item& item) {
    std::string_view closed = reason_for_closed_port(service.port);
    if (!closed.empty() && item.origin.layer != config::Layer::admin) {
        return refusal(kServices, item, base::format("can't be opened: its port is closed ({})", closed),
                       "only the administrator can change this");
    }
    if (!service.address) return base::success();
    std::optional<ClosedAddress> floor = find_closed(*service.address, {});
    if (!floor)
        return refusal(kServices, item, "is not an address of this site", "open it with network.allow");
    if (floor->can_be_opened) return base::success();
    bool is_loopback = floor->reason.starts_with("loopback");
    return refusal(kServices, item, "can't be opened: " + floor->reason,
                   is_loopback ? base::format("write the port alone: it is {} inside", kHostServiceName)
                               : "name a host of a private network");
}

Result<HostService> parse_service(const config::Item& item) {
    constexpr const char* kAdvice =
        "write a port such as 5432, or an address and a port such as 10.1.2.3:5432";
    std::string_view text = item.text;
    HostService service{.origin = item.origin};
    size_t colon = text.rfind(':');
    std::optional<uint16_t> port =
        base::parse_port(text.substr(colon == std::string_view::npos ? 0 : colon + 1));
    if (!port) return refusal(kServices, item, "has no port between 1 and 65535", kAdvice);
    service.port = *port;
    if (colon != std::string_view::npos) {
        std::string_view host = text.substr(0, colon);
        bool is_bare_v6 = host.find(':') != std::string_view::npos && !host.starts_with('[');
        Result<Host> parsed = parse_host(host);
        if (is_bare_v6) return refusal(kServices, item, "is an IPv6 address without brackets", kAdvice);
        if (!parsed) return refusal(kServices, item, "names no host", kAdvice);
        const Address* address = std::get_if<Address>(&*parsed);
        if (!address) {
            return refusal(kServices, item, "is a name, and what it leads to may change",
                           "write its address; names are opened by network.allow");
        }
        service.address = *address;
    }
    if (base::Status fits = check_service(service, item); !fits) return fits.error();
    return service;
}

// ---- The site's proxy

// Entries of no_proxy: separated by commas, semicolons or blanks, optionally with a port or a leading "*.".
std::vector<std::string> direct_hosts_in(std::string_view no_proxy) {
    std::vector<std::string> hosts;
    std::string separated(no_proxy);
    std::ranges::replace_if(
        separated, [](char letter) { return letter == ' ' || letter == '\t' || letter == ';'; }, ',');
    for (std::string_view entry : base::split(separated, ',')) {
        if (entry.starts_with("*.")) entry.remove_prefix(1);
        size_t colon = entry.rfind(':');
        bool has_port = colon != std::string_view::npos && base::parse_port(entry.substr(colon + 1)) &&
                        (entry.find(':') == colon || entry.starts_with('['));
        if (has_port) entry = entry.substr(0, colon);
        entry = base::without_brackets(entry);
        if (entry.empty()) continue;
        std::string host = base::lower(entry);
        if (host.ends_with('.')) host.pop_back();
        hosts.push_back(std::move(host));
    }
    return hosts;
}

}  // namespace

Result<std::vector<HostService>> parse_host_services(const std::vector<config::Item>& items) {
    std::vector<HostService> services;
    for (const config::Item& item : items) {
        Result<HostService> service = parse_service(item);
        if (!service) return service.error();
        services.push_back(*std::move(service));
    }
    return services;
}

bool leads_to_host_port(const std::vector<HostService>& services, const Address& address, uint16_t port) {
    static const Address kLoopback[] = {*Address::parse("127.0.0.1"), *Address::parse("::1")};
    if (std::ranges::find(kLoopback, address) == std::end(kLoopback)) return false;
    return std::ranges::any_of(
        services, [&](const HostService& service) { return !service.address && service.port == port; });
}

Result<std::vector<Published>> parse_published(const std::vector<config::Item>& items) {
    constexpr std::string_view kSetting = "network.publish";
    std::vector<Published> published;
    for (const config::Item& item : items) {
        std::string_view text = item.text;
        size_t colon = text.find(':');
        std::optional<uint16_t> outer = base::parse_port(text.substr(0, colon));
        std::optional<uint16_t> inner =
            colon == std::string_view::npos ? outer : base::parse_port(text.substr(colon + 1));
        if (!outer || !inner) {
            return refusal(kSetting, item, "is not a port",
                           "write 8080, or 8080:80 for the host's port 8080 and the jail's port 80");
        }
        auto same = std::ranges::find(published, *outer, &Published::host_port);
        if (same != published.end()) {
            if (same->jail_port == *inner) continue;
            return refusal(kSetting, item, "leads a port of the host to two places",
                           "remove it, or the entry of " + same->origin.describe());
        }
        published.push_back({.host_port = *outer, .jail_port = *inner, .origin = item.origin});
    }
    return published;
}

std::string to_text(const Published& published) {
    std::string text = std::to_string(published.host_port);
    if (published.jail_port != published.host_port) text += ":" + std::to_string(published.jail_port);
    return text;
}

Result<UpstreamProxy> parse_upstream_proxy(std::string_view text, std::string_view no_proxy,
                                           const config::Origin& origin) {
    auto refused = [&](std::string_view why) {
        return Error{.what = base::format("the proxy {} {}", in_quotes(config::without_secrets(text)), why),
                     .advice = "write http://proxy.example.org:3128",
                     .where = origin.describe()};
    };
    std::string_view rest = text;
    if (size_t scheme = rest.find("://"); scheme != std::string_view::npos) {
        std::string_view name = rest.substr(0, scheme);
        if (name != "http" && name != "HTTP")
            return refused("is not spoken to in HTTP: only such a proxy is known");
        rest.remove_prefix(scheme + 3);
    }
    UpstreamProxy proxy{.host = {}, .port = 80, .direct_hosts = direct_hosts_in(no_proxy), .origin = origin};
    if (size_t at = rest.rfind('@'); at != std::string_view::npos) {
        std::string secret = base::percent_decoded(rest.substr(0, at));
        if (secret.find(':') == std::string::npos) secret += ':';
        bool is_clean = std::ranges::all_of(
            secret, [](char letter) { return static_cast<unsigned char>(letter) >= 0x20 && letter != 0x7f; });
        if (!is_clean) return refused("has a control character in its user or password");
        proxy.authorization = "Basic " + base::to_base64(secret);
        rest.remove_prefix(at + 1);
    }
    if (rest.ends_with('/')) rest.remove_suffix(1);
    size_t colon = rest.rfind(':');
    bool has_port = colon != std::string_view::npos && rest.find(']', colon) == std::string_view::npos;
    if (has_port) {
        std::optional<uint16_t> port = base::parse_port(rest.substr(colon + 1));
        if (!port) return refused("has no port between 1 and 65535");
        proxy.port = *port;
        rest = rest.substr(0, colon);
    }
    Result<Host> host = parse_host(rest);
    if (!host) return refused("names no host");
    const Address* address = std::get_if<Address>(&*host);
    proxy.host = address ? address->str() : std::get<HostName>(*host).str();
    return proxy;
}

bool UpstreamProxy::is_for(const HostName& name) const {
    std::string_view text = name.str();
    return std::ranges::none_of(direct_hosts, [&](std::string_view entry) {
        if (entry == "*") return true;
        if (entry.starts_with('.')) entry.remove_prefix(1);
        bool is_below = text.size() > entry.size() && text.ends_with(entry) &&
                        text[text.size() - entry.size() - 1] == '.';
        return !entry.empty() && (text == entry || is_below);
    });
}

bool UpstreamProxy::is_for(const Address& address) const {
    return std::ranges::none_of(direct_hosts, [&](std::string_view entry) {
        if (entry == "*") return true;
        Result<Prefix> prefix = Prefix::parse(entry);
        return prefix && prefix->contains(address);
    });
}

}  // namespace network
