// SPDX-License-Identifier: MIT
// What is closed in every mode that filters, whatever a rule about names says.
//
// The address floor is asked about the address that would be dialled, after the name was resolved: a name
// that anybody may register can point to the host's loopback, to the instance metadata of a cloud or into the
// site's network. The port floor closes mail, DNS over TLS and the clear-text services that an account's
// trust is placed in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/value.h"
#include "network/rules/address.h"

namespace network {

struct ClosedAddress {
    std::string row;     // "10.0.0.0/8", and for an embedded address "10.0.0.0/8 in 6to4"
    std::string reason;  // "a private network of this site"
    bool can_be_opened;  // by network.private
};

// Why an address can't be dialled, or nothing. `opened` are the networks of network.private; a metadata
// address within one stays closed, and an address that reaches a private network through a tunnel or
// translator too.
std::optional<ClosedAddress> find_closed(const Address& address, std::span<const Prefix> opened);

// The entries of network.private: each lies within a private range. Loopback, link-local and metadata are
// never opened.
base::Result<std::vector<Prefix>> parse_private_networks(const std::vector<config::Item>& items);

// Why a port is closed, both for TCP and UDP; empty for the others.
std::string_view reason_for_closed_port(uint16_t port);

}  // namespace network
