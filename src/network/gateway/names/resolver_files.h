// SPDX-License-Identifier: MIT
// Parses /etc/hosts and /etc/resolv.conf. Lines that cannot be used are skipped, as the C library does. These
// files belong to the host: a name that resolves on the host must resolve here too. Pure.
#pragma once

#include <chrono>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/address.h"
#include "rules/names/name.h"

namespace network::gateway {

// Addresses in the order of the file, IPv4 first.
using HostsTable = std::unordered_map<HostName, std::vector<Address>>;
HostsTable parse_hosts(std::string_view text);

struct ServerSettings {
    static constexpr size_t kMostServers = 3;
    static constexpr int kMostSeconds = 5;
    static constexpr int kMostRounds = 3;

    std::vector<Address> servers;  // never empty
    uint16_t port = 53;
    std::chrono::milliseconds time_per_try{2000};
    int rounds = 2;
    bool rotates = false;
};
// Search domains are for the resolvers inside the jail. A server with a zone (fe80::1%eth0) is skipped.
ServerSettings parse_resolv_conf(std::string_view text);

}  // namespace network::gateway
