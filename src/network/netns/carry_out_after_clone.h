// SPDX-License-Identifier: MIT
// Carries out a recipe in the network namespace that this process is in, and has power over. Allocates
// nothing: it also runs in a process that was cloned, not executed.
//
// What goes out through the socket (SOCK_SEQPACKET), with the descriptors in the order of the attempt's
// endpoints and the namespace behind them, where it is wanted: any number of messages "more", and then
// "end ATTEMPT FAMILIES". Nothing, where there is nothing to hand out.
#pragma once

#include "network/netns/recipe.h"

namespace network::netns {

enum class NetworkStep : uint8_t { none, devices, listeners, name_space, hand_over };
std::string_view to_text(NetworkStep step);  // "set the addresses and routes of the jail"

struct CarriedOut {
    int number = 0;  // errno
    NetworkStep step = NetworkStep::none;
};

CarriedOut carry_out(Recipe& recipe, int socket);

}  // namespace network::netns
