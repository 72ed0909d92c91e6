// SPDX-License-Identifier: MIT
// A local default route: the kernel treats every address as its own and delivers a connection to any of them
// to the listener here. The jail's own address is the preferred source. glibc with AI_ADDRCONFIG needs an
// address outside of loopback.
#include "network/netns/routes.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "network/netns/addresses.h"
#include "network/netns/netlink.h"

namespace network::netns {
namespace {

constexpr int kLoopbackIndex = 1;  // the first device of every namespace

std::string_view jail_address(int family) {
    if (family == AF_INET) return {reinterpret_cast<const char*>(kJailV4.data()), kJailV4.size()};
    return {reinterpret_cast<const char*>(kJailV6.data()), kJailV6.size()};
}

bool is_loopback_up() {
    base::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    struct ifreq request = {};
    std::strncpy(request.ifr_name, "lo", sizeof request.ifr_name - 1);
    return ::ioctl(socket.get(), SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_UP) != 0;
}

void raise_loopback(Messages& messages) {
    messages.start(RTM_NEWLINK, 0);
    messages.append(ifinfomsg{
        .ifi_family = AF_UNSPEC, .ifi_index = kLoopbackIndex, .ifi_flags = IFF_UP, .ifi_change = IFF_UP});
    messages.finish();
}

void add_address(Messages& messages, int family) {
    std::string_view address = jail_address(family);
    messages.start(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
    messages.append(ifaddrmsg{.ifa_family = static_cast<uint8_t>(family),
                              .ifa_prefixlen = static_cast<uint8_t>(address.size() * 8),
                              .ifa_flags = IFA_F_NODAD,
                              .ifa_scope = RT_SCOPE_UNIVERSE,
                              .ifa_index = kLoopbackIndex});
    messages.attribute(IFA_LOCAL, address);
    messages.attribute(IFA_ADDRESS, address);
    messages.finish();
}

void add_route(Messages& messages, int family) {
    messages.start(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);
    messages.append(rtmsg{.rtm_family = static_cast<uint8_t>(family),
                          .rtm_table = RT_TABLE_LOCAL,
                          .rtm_protocol = RTPROT_STATIC,
                          .rtm_scope = RT_SCOPE_HOST,
                          .rtm_type = RTN_LOCAL});
    messages.number(RTA_OIF, kLoopbackIndex);
    messages.attribute(RTA_PREFSRC, jail_address(family));
    messages.finish();
}

}  // namespace

int await_loopback(int milliseconds) {
    // Subscribe first, then check, so that no change in between is missed.
    base::Fd events = open_netlink(NETLINK_ROUTE, RTMGRP_LINK);
    if (!events) return errno;
    while (!is_loopback_up()) {
        struct pollfd watched = {events.get(), POLLIN, 0};
        int ready = ::poll(&watched, 1, milliseconds);
        if (ready == 0) return ETIMEDOUT;
        if (ready < 0 && errno != EINTR) return errno;
        char ignored[4096];
        while (::recv(events.get(), ignored, sizeof ignored, MSG_DONTWAIT) > 0) continue;
    }
    return 0;
}

NetlinkRequest device_requests(DeviceWishes wishes) {
    Messages messages;
    NetlinkRequest request{.protocol = NETLINK_ROUTE};
    if (wishes.is_raised) raise_loopback(messages);
    if (wishes.makes_world_local) {
        add_address(messages, AF_INET);
        add_route(messages, AF_INET);
    }
    messages.ask_for_answer();
    request.essential = messages.last_sequence();
    if (wishes.makes_world_local) {
        add_address(messages, AF_INET6);
        add_route(messages, AF_INET6);
        messages.ask_for_answer();
    }
    request.last = messages.last_sequence();
    request.bytes = messages.bytes();
    return request;
}

}  // namespace network::netns
