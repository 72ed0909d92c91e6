// SPDX-License-Identifier: MIT
// All that a network namespace needs, as bytes that only have to be sent. Pure. Whoever carries it out
// (carry_out_after_clone.h) allocates nothing and decides nothing but which of the attempts the kernel takes.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "network/netns/set_up.h"

namespace network::netns {

// One packet of netlink messages. The kernel answers where it is asked to, and always when it refuses.
struct Request {
    int protocol = 0;
    std::string bytes;
    uint32_t essential = 0;  // the last message without which there is no network
    uint32_t last = 0;       // messages behind it are for IPv6, which a kernel may lack
};

enum class Group : uint8_t { tcp, name_server, udp };

struct Endpoint {
    Group group = Group::tcp;
    int type = SOCK_STREAM;
    bool is_v6 = false;
    struct sockaddr_storage address = {};
    socklen_t length = 0;
};

// How TCP to any port is caught, the best first; the last needs nothing of the kernel.
struct Attempt {
    Capture capture = Capture::listeners;
    Request rules;     // of both families
    Request rules_v4;  // on a kernel without IPv6
    std::vector<Endpoint> endpoints;
};

struct Recipe {
    bool has_listeners = true;
    bool hands_namespace = false;  // the namespace itself goes out too: somebody will connect into it
    Request devices;               // loopback, the jail's addresses and routes
    std::vector<Attempt> attempts;
    std::vector<int> opened;  // room for the descriptors of any attempt
};

// `raises_loopback`: nobody else does.
Recipe make_recipe(const Wanted& wanted, bool raises_loopback);

}  // namespace network::netns
