// SPDX-License-Identifier: MIT
// Properties of the parsers for files of package managers and for entries about services, for any bytes.
#pragma once

#include <string>
#include <string_view>

#include "rules/bundle.h"
#include "rules/engine.h"
#include "rules/names/name.h"

namespace network {

// A host in a client's file becomes a rule, and a rule that can't be parsed would stop the launch.
inline const char* broken_for_clients(std::string_view text) {
    for (auto read : {npm_entries, pip_entries, conda_entries, cargo_entries, apt_entries}) {
        for (const std::string& entry : read(text)) {
            if (!entry.starts_with('@') && !parse_rule(entry, Side::allow))
                return "a client's file makes an entry that can't be read";
        }
    }
    std::string entry = entry_of_url(text);
    if (!entry.empty() && !parse_rule(entry, Side::allow))
        return "an address makes an entry that can't be read";
    return nullptr;
}

inline const char* broken_for_services(std::string_view text) {
    std::vector<config::Item> items = {{std::string(text), config::from_flag("--test")}};
    auto is_one_line = [](const base::Error& error) { return error.line().find('\n') == std::string::npos; };
    if (auto services = parse_host_services(items)) {
        for (const HostService& service : *services)
            if (service.port == 0) return "a service without a port";
    } else if (!is_one_line(services.error())) {
        return "a message spans lines";
    }
    if (auto published = parse_published(items)) {
        for (const Published& one : *published)
            if (one.host_port == 0 || one.jail_port == 0) return "a published port is none";
    } else if (!is_one_line(published.error())) {
        return "a message spans lines";
    }
    if (auto types = parse_record_types(items); !types && !is_one_line(types.error()))
        return "a message spans lines";
    auto proxy = parse_upstream_proxy(text, text, config::from_flag("--test"));
    if (!proxy) return is_one_line(proxy.error()) ? nullptr : "a message spans lines";
    if (proxy->port == 0 || !parse_host(proxy->host)) return "a proxy that can't be reached";
    if (proxy->authorization.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
        return "a proxy's password makes a line of its own";
    (void)proxy->is_for(*HostName::parse("a.example.org"));
    (void)proxy->is_for(*Address::parse("192.0.2.1"));
    return nullptr;
}

}  // namespace network
