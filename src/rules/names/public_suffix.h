// SPDX-License-Identifier: MIT
// Suffixes below which anyone can register a name. A wildcard over one would allow hosts that an attacker
// registers.
#pragma once

#include <string_view>

namespace network {

// True for a single label (every top-level domain) and for the rows of share/network/public_suffixes.list,
// which contains the common ones and not the whole public list. `suffix` is a normalised name.
bool is_public_suffix(std::string_view suffix);

}  // namespace network
