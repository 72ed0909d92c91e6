// SPDX-License-Identifier: MIT
// Rules that no setting changes: addresses and ports that are always closed, and ports whose services use
// HTTP or TLS.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/value.h"
#include "rules/address.h"

namespace network {

// Addresses and ports that are closed in every filtering mode, whatever the rules for names are.
//
// The address floor checks the address that would be dialled, after the name was resolved. An attacker can
// register a name that points to the host's loopback, to a cloud's instance metadata or into the site's
// network. The port floor closes mail, DNS over TLS and the clear-text services that accounts are trusted
// with.

struct ClosedAddress {
    std::string row;     // "10.0.0.0/8", and for an embedded address "10.0.0.0/8 in 6to4"
    std::string reason;  // "a private network of this site"
    bool can_be_opened;  // by network.private
};

// Why an address cannot be dialled, or nothing. `opened` are the networks of network.private. A metadata
// address within one stays closed. So does an address that reaches a private network through a tunnel or
// translator.
std::optional<ClosedAddress> find_closed(const Address& address, std::span<const Prefix> opened);

// The entries of network.private. Each must be within a private range. Loopback, link-local and metadata
// addresses are never opened.
base::Result<std::vector<Prefix>> parse_private_networks(const std::vector<config::Item>& items);

// Why a port is closed, for TCP and UDP. Empty for other ports.
std::string_view reason_for_closed_port(uint16_t port);

// Ports whose services use HTTP or TLS from the first byte. On a connection by name, other protocols are
// refused there unless a "raw:" rule allows them: the server could read the bytes as a request for another
// name.

// "HTTP (web servers)", "TLS (https)"; empty for every other port.
std::string usual_protocol(uint16_t port);

}  // namespace network
