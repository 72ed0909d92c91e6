// SPDX-License-Identifier: MIT
#include "network/netns/recipe.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/inside/addresses.h"
#include "base/process/descriptors.h"
#include "network/netns/netlink.h"

namespace network::netns {

Recipe make_recipe(const NetworkRequest& request, bool raises_loopback) {
    Recipe recipe{.has_listeners = request.has_listeners,
                  .hands_namespace = request.has_connector,
                  .devices = device_requests({raises_loopback, request.has_listeners})};
    size_t most = 0;
    for (Capture capture : {Capture::tproxy, Capture::redirect, Capture::listeners}) {
        if (!request.has_listeners || capture < request.best) continue;
        recipe.attempts.push_back({.capture = capture,
                                   .rules = capture_rules(capture, true),
                                   .rules_v4 = capture_rules(capture, false),
                                   .endpoints = endpoints_for(request, capture)});
        most = std::max(most, recipe.attempts.back().endpoints.size());
    }
    recipe.opened.assign(most + 1, -1);
    return recipe;
}

// A local default route: the kernel treats every address as its own and delivers a connection to any of them
// to the listener here. The jail's own address is the preferred source. glibc with AI_ADDRCONFIG needs an
// address outside of loopback.

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

int await_loopback(std::chrono::milliseconds longest) {
    // Subscribe first, then check, so that no change in between is missed.
    base::Fd events = open_netlink(NETLINK_ROUTE, RTMGRP_LINK);
    if (!events) return errno;
    while (!is_loopback_up()) {
        if (base::await_events(events.get(), POLLIN, longest) == 0) return errno;
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

namespace {

constexpr uint16_t kCommonPorts[] = {
    // ssh, web, git
    22,
    80,
    443,
    9418,
    // the gateway's own proxy
    base::kSocksPort,
    base::kProxyPort,
    // DNS over TCP
    base::kNameServerPort,
    // closed ports: telnet, mail, DNS over TLS
    23,
    24,
    25,
    465,
    587,
    2525,
    853,
    // databases and model servers
    1433,
    3306,
    5432,
    6379,
    11434,
    27017,
    // rsync, file servers, directories, databases, queues
    873,
    2049,
    389,
    636,
    1521,
    5671,
    5672,
    // https, Kafka, Elasticsearch
    8443,
    9092,
    9200,
};

// With an empty address: every address of the family.
Endpoint endpoint(Group group, bool is_v6, uint16_t port, std::string_view address = {}) {
    bool is_stream = group == Group::tcp || group == Group::loopback;
    Endpoint made{.group = group, .type = is_stream ? SOCK_STREAM : SOCK_DGRAM, .is_v6 = is_v6};
    if (is_v6) {
        struct sockaddr_in6 v6 = {};
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(port);
        if (!address.empty()) std::memcpy(&v6.sin6_addr, address.data(), address.size());
        std::memcpy(&made.address, &v6, sizeof v6);
        made.length = sizeof v6;
    } else {
        struct sockaddr_in v4 = {};
        v4.sin_family = AF_INET;
        v4.sin_port = htons(port);
        if (!address.empty()) std::memcpy(&v4.sin_addr, address.data(), address.size());
        std::memcpy(&made.address, &v4, sizeof v4);
        made.length = sizeof v4;
    }
    return made;
}

std::string_view bytes(const void* data, size_t size) {
    return {static_cast<const char*>(data), size};
}

std::string_view loopback(bool is_v6) {
    static constexpr unsigned char kLoopbackV4[] = {127, 0, 0, 1};
    static constexpr unsigned char kLoopbackV6[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    return is_v6 ? bytes(kLoopbackV6, sizeof kLoopbackV6) : bytes(kLoopbackV4, sizeof kLoopbackV4);
}

Endpoint capture_endpoint(bool is_v6, Capture capture) {
    std::string_view address = loopback(is_v6);
    bool is_redirected = capture == Capture::redirect;  // the kernel redirects output to loopback
    if (!is_redirected) address = is_v6 ? bytes(kGatewayV6.data(), 16) : bytes(kGatewayV4.data(), 4);
    return endpoint(Group::tcp, is_v6, kCapturePort, address);
}

}  // namespace

std::vector<uint16_t> common_ports() {
    return {std::begin(kCommonPorts), std::end(kCommonPorts)};
}

std::vector<Endpoint> endpoints_for(const NetworkRequest& request, Capture capture) {
    std::vector<uint16_t> ports = common_ports();
    for (uint16_t port : request.tcp_ports) {
        if (std::ranges::find(ports, port) == ports.end()) ports.push_back(port);
    }
    std::vector<Endpoint> endpoints;
    for (bool is_v6 : {false, true}) {
        if (capture == Capture::listeners) {
            for (uint16_t port : ports) endpoints.push_back(endpoint(Group::tcp, is_v6, port));
        } else {
            endpoints.push_back(capture_endpoint(is_v6, capture));
        }
        endpoints.push_back(endpoint(Group::name_server, is_v6, base::kNameServerPort));
        for (uint16_t port : request.udp_ports) endpoints.push_back(endpoint(Group::udp, is_v6, port));
        // A listener of its own port is on loopback already.
        for (uint16_t port : request.loopback_ports) {
            bool is_taken = capture == Capture::listeners || port == kCapturePort;
            if (!is_taken) endpoints.push_back(endpoint(Group::loopback, is_v6, port, loopback(is_v6)));
        }
    }
    return endpoints;
}

}  // namespace network::netns
