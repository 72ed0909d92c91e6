// SPDX-License-Identifier: MIT
// Synthetic addresses: the address that a name has inside the jail, by which a connection tells the gateway
// the name that was meant. One per name for the life of the session and never given to another: an address
// that a program kept must not lead to another host. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "network/rules/address.h"
#include "network/rules/name.h"

namespace network::gateway {

// 198.18.0.0/15 (RFC 2544) and fd61:6765:6e74::/64 belong to the gateway inside the jail. The first ones are
// fixed.
enum class Fixed : uint32_t {
    gateway = 1,  // answers DNS, and CONNECT and SOCKS5 for those who ask for a proxy
    jail = 2,     // the jail's own address that is no loopback: AI_ADDRCONFIG wants one
    host = 3,     // host.agent-sandbox.internal
    denier = 4,   // answers DNS too, and says "no such name" where the gateway says "refused"
};
Address fixed_v4(Fixed which);
Address fixed_v6(Fixed which);
bool is_fixed(const Address& address, Fixed which);

inline constexpr std::string_view kHostName = "host.agent-sandbox.internal";

class Names {
  public:
    // Beyond this a session gets no new name; the refusal says so.
    static constexpr uint32_t kMost = 65'536;

    struct Pair {
        Address v4, v6;
    };

    // Assigns one where there is none yet. Nothing: all are used.
    std::optional<Pair> addresses_of(const HostName& name);
    // The name behind an address of ours that was given out; null for every other.
    const HostName* name_of(const Address& address) const;

    // Lies in one of the two ranges, given out or not.
    static bool is_ours(const Address& address);

  private:
    std::deque<HostName> names_;  // pointers to them are given out
    std::unordered_map<HostName, uint32_t> numbers_;
};

}  // namespace network::gateway
