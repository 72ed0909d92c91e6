// SPDX-License-Identifier: MIT
// DNS record types by name, for network.dns_types. A, AAAA and PTR are always answered, so naming them has no
// effect. HTTPS, SVCB and ANY are an error, because their answers would bypass the gateway.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "config/value.h"

namespace network {

// Names in upper or lower case. An unknown name is an error that contains its origin.
base::Result<std::vector<uint16_t>> parse_record_types(const std::vector<config::Item>& items);

}  // namespace network
