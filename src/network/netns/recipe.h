// SPDX-License-Identifier: MIT
// The complete set-up of a network namespace, as bytes that only have to be sent. Pure. The process that
// sends it (carry_out_after_clone.h) does not allocate memory and decides only which of the attempts the
// kernel accepts.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "network/netns/set_up.h"

namespace network::netns {

// One packet of netlink messages. The kernel answers a message if it is requested, and always if it refuses
// it.
struct NetlinkRequest {
    int protocol = 0;
    std::string bytes;
    uint32_t essential = 0;  // the last message that must succeed
    uint32_t last = 0;       // the messages after `essential` are for IPv6, which a kernel may lack
};

enum class Group : uint8_t { tcp, name_server, udp };

struct Endpoint {
    Group group = Group::tcp;
    int type = SOCK_STREAM;
    bool is_v6 = false;
    struct sockaddr_storage address = {};
    socklen_t length = 0;
};

// How TCP to any port is captured, the best way first. The last way needs no support from the kernel.
struct Attempt {
    Capture capture = Capture::listeners;
    NetlinkRequest rules;     // of both families
    NetlinkRequest rules_v4;  // on a kernel without IPv6
    std::vector<Endpoint> endpoints;
};

struct Recipe {
    bool has_listeners = true;
    bool hands_namespace = false;  // also passes the namespace itself, for connections into it
    NetlinkRequest devices;        // loopback, the jail's addresses and routes
    std::vector<Attempt> attempts;
    std::vector<int> opened;  // space for the descriptors of any attempt
};

// `raises_loopback`: no other process does.
Recipe make_recipe(const NetworkRequest& request, bool raises_loopback);

}  // namespace network::netns
