// SPDX-License-Identifier: MIT
// Services that listen only for this host, and the visible parts of the host's network. A service counts as
// reached if it answers with the secret; no service on the jail's own loopback does.
#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/text.h"
#include "selftest/attempt.h"
#include "selftest/catalogue.h"

namespace selftest {
namespace {

Finding reach(const World& world, int type, const char* address, int64_t port) {
    if (port == 0) return absent("no such address here");
    struct sockaddr_in place = {};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<uint16_t>(port));
    ::inet_pton(AF_INET, address, &place.sin_addr);
    return connect_to(world, type, reinterpret_cast<const struct sockaddr*>(&place), sizeof place);
}

Finding reach6(const World& world, const char* address, int64_t port) {
    if (port == 0) return absent("no such address here");
    struct sockaddr_in6 place = {};
    place.sin6_family = AF_INET6;
    place.sin6_port = htons(static_cast<uint16_t>(port));
    ::inet_pton(AF_INET6, address, &place.sin6_addr);
    return connect_to(world, SOCK_STREAM, reinterpret_cast<const struct sockaddr*>(&place), sizeof place);
}

Finding see_interfaces(const World&) {
    struct ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return held(errno);
    std::string found;
    for (const struct ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
        if (!(entry->ifa_flags & IFF_LOOPBACK)) found = entry->ifa_name;
    }
    ::freeifaddrs(list);
    return found.empty() ? held("loopback only") : escaped("it sees " + found);
}

// The entry of the neighbour's listener in the kernel's table.
Finding see_listener(const World& world) {
    char place[32];
    std::snprintf(place, sizeof place, "0100007F:%04X 00000000:0000 0A",
                  static_cast<unsigned>(world.tcp_port));
    std::string table = content_of("/proc/net/tcp");
    return table.find(place) != std::string::npos ? escaped("it is listed") : held("not listed");
}

Finding see_unix_socket(const World& world) {
    if (world.abstract_socket.empty()) return absent("no such service here");
    bool is_listed = content_of("/proc/net/unix").find(world.abstract_socket) != std::string::npos;
    return is_listed ? escaped("it is listed") : held("not listed");
}

Finding switch_interface_off(const World&) {
    base::Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    struct ifreq request = {};
    std::strcpy(request.ifr_name, "lo");
    if (::ioctl(fd.get(), SIOCGIFFLAGS, &request) != 0) return held(errno);
    // Set the current flags again, so that nothing changes if it is permitted.
    return outcome(::ioctl(fd.get(), SIOCSIFFLAGS, &request), "its flags can be set");
}

// An empty request of a kind that changes the network. If it is permitted, the kernel rejects it as invalid,
// so it never has an effect.
Finding change_network(uint16_t type) {
    base::Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    if (!fd) return held(errno);
    struct {
        struct nlmsghdr header;
        char body[32];  // begins with the family: unspecified
    } request = {};
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = type;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    if (::send(fd.get(), &request, sizeof request, 0) < 0) return held(errno);
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
        char rest[256];
    } answer = {};
    if (::recv(fd.get(), &answer, sizeof answer, 0) < 0) return held(errno);
    bool is_refused = answer.header.nlmsg_type == NLMSG_ERROR && answer.error.error == -EPERM;
    return is_refused ? held(EPERM) : escaped("the kernel takes the request");
}

struct NetworkChange {
    const char* name;
    const char* what;
    uint16_t type;
};
constexpr NetworkChange kChanges[] = {
    {"routes", "adds a route", RTM_NEWROUTE},
    {"route-removal", "removes a route, the one to the gateway for instance", RTM_DELROUTE},
    {"route-rules", "removes a rule that chooses routes", RTM_DELRULE},
    {"addresses", "adds an address", RTM_NEWADDR},
    {"address-removal", "removes an address", RTM_DELADDR},
    {"links", "adds a network device", RTM_NEWLINK},
    {"link-removal", "removes a network device", RTM_DELLINK},
    {"neighbours", "adds a neighbour on the link", RTM_NEWNEIGH},
};

}  // namespace

void add_network(Probes& probes) {
    auto add = [&](const std::string& name, const std::string& what, Attempt attempt,
                   std::string_view excuse = {}, std::string_view permitted_by = kOpen) {
        probes.push_back({.name = "network/" + name,
                          .what = what,
                          .attempt = std::move(attempt),
                          .excuse = excuse,
                          .permitted_by = permitted_by});
    };
    for (const char* address : {"127.0.0.1", "0.0.0.0"}) {
        add("tcp-" + std::string(address),
            "reaches a service on the host's loopback at " + std::string(address),
            [address](const World& world) { return reach(world, SOCK_STREAM, address, world.tcp_port); });
    }
    add("udp", "reaches a service on the host's loopback by UDP",
        [](const World& world) { return reach(world, SOCK_DGRAM, "127.0.0.1", world.udp_port); });
    add("tcp-ipv6", "reaches a service on the host's loopback at ::1",
        [](const World& world) { return reach6(world, "::1", world.tcp6_port); });
    add(
        "tcp-mapped", "reaches a service on the host's loopback at ::ffff:127.0.0.1",
        [](const World& world) { return reach6(world, "::ffff:127.0.0.1", world.tcp_port); },
        "this host has no IPv6");
    add(
        "tcp-own-address", "reaches a service at the host's own address",
        [](const World& world) {
            return reach(world, SOCK_STREAM, world.address.c_str(), world.address_port);
        },
        "this host refuses connections to its own address");
    add("interfaces", "sees the host's network interfaces", see_interfaces,
        "this host has none but loopback");
    add("listeners", "sees which ports the host listens on", see_listener, "/proc/net can't be read here");
    add("unix-listeners", "sees which Unix sockets the host listens on", see_unix_socket,
        "/proc/net can't be read here");
    add("interface-flags", "switches an interface", switch_interface_off, "needs root", {});
    for (const NetworkChange& change : kChanges) {
        add(change.name, change.what, [type = change.type](const World&) { return change_network(type); },
            "needs root", {});
    }
}

}  // namespace selftest
