// SPDX-License-Identifier: MIT
// Carries out a recipe in the network namespace of this process, which needs CAP_NET_ADMIN there. It does not
// allocate memory, because it also runs in a process after clone(2) without execve(2).
//
// Sends through the socket (SOCK_SEQPACKET) any number of messages "more" and then "end ATTEMPT FAMILIES".
// They carry the descriptors in the order of the attempt's endpoints, followed by the namespace if the recipe
// wants it. Sends nothing if there is nothing to pass.
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
