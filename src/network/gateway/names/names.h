// SPDX-License-Identifier: MIT
// Synthetic addresses: the address of a name inside the jail. From the address of a connection the gateway
// finds the name that was meant. A name keeps its address for the whole session, and no other name gets it:
// an address that a program stored must not lead to another host. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/inside/addresses.h"
#include "rules/address.h"
#include "rules/names/name.h"

namespace network::gateway {

using Fixed = base::FixedAddress;
Address fixed_v4(Fixed which);
Address fixed_v6(Fixed which);
bool is_fixed(const Address& address, Fixed which);

class Names {
  public:
    // The limit of names per session. The refusal beyond it gives this reason.
    static constexpr uint32_t kMost = 65'536;

    struct Pair {
        Address v4, v6;
    };

    // Assigns addresses to a new name. Nothing: all addresses are used.
    std::optional<Pair> addresses_of(const HostName& name);
    // The name of a synthetic address. Null for every other address.
    const HostName* name_of(const Address& address) const;

    // The address is in one of the two ranges, assigned or not.
    static bool is_ours(const Address& address);

  private:
    std::deque<HostName> names_;  // callers keep pointers to the elements
    std::unordered_map<HostName, uint32_t> numbers_;
};

}  // namespace network::gateway
