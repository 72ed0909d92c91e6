// SPDX-License-Identifier: MIT
// Names below which anybody can have a name of their own: a wildcard over one would open a host to whoever
// registers it.
#pragma once

#include <string_view>

namespace network {

// True for a single label (every top-level domain) and for the rows of share/network/public_suffixes.list,
// which holds the common ones and not the whole of the public list. `suffix` is a normalised name.
bool is_public_suffix(std::string_view suffix);

}  // namespace network
