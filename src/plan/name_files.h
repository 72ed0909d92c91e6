// SPDX-License-Identifier: MIT
// The jail's own /etc/hosts, /etc/resolv.conf and /etc/nsswitch.conf, where the network is not the host's:
// all names go to the gateway, which asks the host's own configuration, or to nobody. Pure: text in, text
// out.
#pragma once

#include <string>
#include <string_view>

namespace plan {

// Search domains and ndots are the host's, so that short names mean the same inside. Without a name server
// every lookup ends at once.
std::string jail_resolver(std::string_view host_text, bool has_name_server);

// Loopback, the host's own name as a loopback address, and the name for services of the host where there are
// some. No other entry: those names are the gateway's to look up, by name.
std::string jail_hosts(std::string_view host_text, std::string_view own_name, bool has_host_services);

// The host's file with names from /etc/hosts and by DNS alone: no directory, mDNS or resolver service answers
// in the jail.
std::string jail_switch(std::string_view host_text);

}  // namespace plan
