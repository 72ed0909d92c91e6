// SPDX-License-Identifier: MIT
// The jail's own /etc/hosts, /etc/resolv.conf and /etc/nsswitch.conf, where the network is not the host's:
// every lookup goes to the gateway, which uses the host's own configuration, or fails. Pure: text in, text
// out.
#pragma once

#include <string>
#include <string_view>

namespace plan {

// Search domains and ndots are the host's, so that short names mean the same inside. Without a name server
// every lookup fails at once.
std::string jail_resolver(std::string_view host_text, bool has_name_server);

// Loopback, the host's own name as a loopback address, and the name for services of the host if any are
// allowed. No other entry: the gateway looks up all other names.
std::string jail_hosts(std::string_view host_text, std::string_view own_name, bool has_host_services);

// The host's file, but names come only from /etc/hosts and DNS: LDAP, mDNS and resolver services do not
// answer in the jail.
std::string jail_switch(std::string_view host_text);

}  // namespace plan
