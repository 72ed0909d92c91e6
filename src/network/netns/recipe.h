// SPDX-License-Identifier: MIT
// The complete set-up of a network namespace, as bytes that only have to be sent. Pure. The process that
// sends it (carry_out_after_clone.h) does not allocate memory and decides only which of the attempts the
// kernel accepts.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/inside/addresses.h"
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

enum class Group : uint8_t { tcp, name_server, udp, loopback };

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

// The addresses of the gateway and the jail inside the namespace, in the kernel's form.

inline constexpr auto kGatewayV4 = base::v4_bytes(base::FixedAddress::gateway);
inline constexpr auto kGatewayV6 = base::v6_bytes(base::FixedAddress::gateway);
inline constexpr auto kJailV4 = base::v4_bytes(base::FixedAddress::jail);
inline constexpr auto kJailV6 = base::v6_bytes(base::FixedAddress::jail);

// The port of the single listener of a capture. No process in the jail can bind it.
inline constexpr uint16_t kCapturePort = 1;

// The loopback device of a network namespace.

// Waits until another process has raised it, at most `milliseconds`. Zero or an errno.
int await_loopback(std::chrono::milliseconds longest);

struct DeviceWishes {
    bool is_raised = false;         // raise the device, if no other process does
    bool makes_world_local = true;  // the jail's own address and the route that makes every address local
};
NetlinkRequest device_requests(DeviceWishes wishes);

// The gateway's listeners inside a network namespace.

// Ports with a listener each, for kernels that cannot direct all ports to one listener: the most used ones,
// the closed ones with a refusal in their own protocol, and DNS. It contains no port that users choose for
// their own servers (3000, 5000, 8000, 8080 …), because our listener would block them.
std::vector<uint16_t> common_ports();

// The endpoints for `request` and `capture`: first all of IPv4, then all of IPv6, in the order of the groups.
std::vector<Endpoint> endpoints_for(const NetworkRequest& request, Capture capture);

}  // namespace network::netns
