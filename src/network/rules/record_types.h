// SPDX-License-Identifier: MIT
// DNS record types by name, for network.dns_types. A, AAAA and PTR are always answered and HTTPS and SVCB
// never, since what they say would lead around the gateway; so none of these can be named.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "config/value.h"

namespace network {

// Names in either case. An unknown one is an error that names its origin.
base::Result<std::vector<uint16_t>> parse_record_types(const std::vector<config::Item>& items);

}  // namespace network
