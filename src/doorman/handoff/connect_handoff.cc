// SPDX-License-Identifier: MIT
// Theory of operation. The stage listens on loopback for the one connection that it is about to make, and
// connects the caller's own socket to that: its options, its flags and its epoll entries stay
// as they are. The accepted end goes to the gateway with a note that says where the caller wanted to go.
//
// Threat: another user of the machine connects to the listener first, and would be served by the gateway with
// the rights of this jail. The accepted peer must have the address that the caller's socket now has; the
// kernel gives that to no other socket (tests/doorman/internet_test.cc).
#include "doorman/handoff/connect_handoff.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "doorman/sockets.h"

namespace doorman {

std::string encode(const Destination& destination) {
    char text[INET6_ADDRSTRLEN] = {};
    ::inet_ntop(destination.is_v6 ? AF_INET6 : AF_INET, destination.address, text, sizeof text);
    return "tcp " + std::string(text) + " " + std::to_string(destination.port);
}

std::optional<Destination> decode(std::string_view note) {
    std::vector<std::string_view> words = base::split(note, ' ');
    if (words.size() != 3 || words[0] != "tcp") return std::nullopt;
    Destination destination;
    destination.is_v6 = words[1].find(':') != std::string_view::npos;
    int family = destination.is_v6 ? AF_INET6 : AF_INET;
    if (::inet_pton(family, std::string(words[1]).c_str(), destination.address) != 1) return std::nullopt;
    const std::optional<uint16_t> port = base::parse_number<uint16_t>(words[2]);
    if (!port) return std::nullopt;
    destination.port = *port;
    return destination;
}

namespace {

constexpr std::chrono::milliseconds kLongest{1000};
constexpr int kStrangers = 64;  // that are turned away before we give up

// Where the caller's socket is led to: a loopback address of a family that it can reach.
enum class Loop { v4, v6, mapped };

Address loopback(Loop loop, uint16_t port) {
    Address address;
    if (loop == Loop::v4) {
        address.v4.sin_family = AF_INET;
        address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.v4.sin_port = port;
        address.length = sizeof address.v4;
        return address;
    }
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_port = port;
    address.length = sizeof address.v6;
    constexpr unsigned char kMapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
    if (loop == Loop::mapped) {
        std::memcpy(&address.v6.sin6_addr, kMapped, sizeof kMapped);
    } else {
        address.v6.sin6_addr = in6addr_loopback;
    }
    return address;
}

uint16_t port_of(const Address& address) {  // in network order, as all here
    return address.family() == AF_INET ? address.v4.sin_port : address.v6.sin6_port;
}

Destination destination_of(const Address& address) {
    Destination destination;
    destination.port = ntohs(port_of(address));
    if (address.family() == AF_INET) {
        std::memcpy(destination.address, &address.v4.sin_addr, 4);
    } else if (IN6_IS_ADDR_V4MAPPED(&address.v6.sin6_addr)) {
        std::memcpy(destination.address, address.v6.sin6_addr.s6_addr + 12, 4);
    } else {
        destination.is_v6 = true;
        std::memcpy(destination.address, &address.v6.sin6_addr, 16);
    }
    // To the kernel the unspecified address is this machine.
    constexpr unsigned char kNowhere[16] = {};
    if (std::memcmp(destination.address, kNowhere, sizeof kNowhere) == 0) {
        destination.address[destination.is_v6 ? 15 : 3] = 1;
        if (!destination.is_v6) destination.address[0] = 127;
    }
    return destination;
}

bool listens(Loop loop, base::Fd& listener, Address& bound) {
    Address address = loopback(loop == Loop::v6 ? Loop::v6 : Loop::v4, 0);
    listener = base::Fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    int yes = 1;
    // Ports of earlier connections that have not faded yet can be used again.
    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (!listener || ::bind(listener.get(), &address.any, address.length) != 0 ||
        ::listen(listener.get(), kStrangers) != 0)
        return false;
    address.length = sizeof address.room;
    if (::getsockname(listener.get(), &address.any, &address.length) != 0) return false;
    bound = loopback(loop, port_of(address));
    return true;
}

using GetName = int (*)(int, struct sockaddr*, socklen_t*);
bool has_name(int socket, GetName get, const Destination& wanted) {
    Address address;
    address.length = sizeof address.room;
    return get(socket, &address.any, &address.length) == 0 && destination_of(address) == wanted;
}

bool has_room(int gateway) {
    return base::await_events(gateway, POLLOUT, kLongest) == POLLOUT;
}

int listen_for(int socket, const Address& wanted, base::Fd& listener, Address& bound) {
    if (wanted.family() == AF_INET) return listens(Loop::v4, listener, bound) ? 0 : EADDRNOTAVAIL;
    int is_v6_only = 0;
    socklen_t size = sizeof is_v6_only;
    ::getsockopt(socket, SOL_IPV6, IPV6_V6ONLY, &is_v6_only, &size);
    bool is_mapped = IN6_IS_ADDR_V4MAPPED(&wanted.v6.sin6_addr);
    if (is_mapped && is_v6_only) return ENETUNREACH;
    if (!is_mapped && listens(Loop::v6, listener, bound)) return 0;
    // A machine without IPv6 on loopback.
    return !is_v6_only && listens(Loop::mapped, listener, bound) ? 0 : EADDRNOTAVAIL;
}

// Threat: a caller whose socket does not take the answer (a filter on it, a signature that it asks for)
// leaves it asking, and the kernel asks on, at a port that is free again when our listener is closed:
// whatever service of this machine listens there next would be connected to the jail, around the gateway. So
// that it ends while the port is still ours (tests/jail/landlock_attacks.bats).
void stop_connecting(int socket) {
    struct sockaddr nowhere = {};
    nowhere.sa_family = AF_UNSPEC;
    connect_within(socket, &nowhere, sizeof nowhere, kLongest);
}

}  // namespace

base::Fd accept_peer_of(int listener, int socket) {
    Address own;
    own.length = sizeof own.room;
    if (::getsockname(socket, &own.any, &own.length) != 0) return {};
    Destination expected = destination_of(own);
    for (int i = 0; i < kStrangers; ++i) {
        if (base::await_events(listener, POLLIN, kLongest) == 0) return {};
        base::Fd accepted(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (accepted && has_name(accepted.get(), ::getpeername, expected)) return accepted;
    }
    return {};
}

bool leads_to_loopback(const Address& address) {
    bool is_whole = (address.family() == AF_INET && address.length >= sizeof address.v4) ||
                    (address.family() == AF_INET6 && address.length >= sizeof address.v6);
    if (!is_whole) return false;
    Destination destination = destination_of(address);
    constexpr unsigned char kLoopbackV6[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    if (!destination.is_v6) return destination.address[0] == 127;
    return std::memcmp(destination.address, kLoopbackV6, sizeof kLoopbackV6) == 0;
}

bool leads_to_host_port(const Address& address, const std::vector<uint16_t>& ports) {
    if (ports.empty() || !leads_to_loopback(address)) return false;
    Destination destination = destination_of(address);
    constexpr unsigned char kLoopbackV4[4] = {127, 0, 0, 1};
    bool is_first =
        destination.is_v6 || std::memcmp(destination.address, kLoopbackV4, sizeof kLoopbackV4) == 0;
    return is_first && std::ranges::find(ports, destination.port) != ports.end();
}

int hand_over(int socket, const Address& wanted, int gateway) {
    if (wanted.length < sizeof(sa_family_t)) return EINVAL;
    // Takes the socket back to where it was before it was connected.
    if (wanted.family() == AF_UNSPEC) return connect_within(socket, &wanted.any, wanted.length, kLongest);
    int family = 0;
    socklen_t size = sizeof family;
    if (::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0) return errno;
    constexpr socklen_t kShortestV6 = 24;  // without the scope
    if (wanted.length < (family == AF_INET ? socklen_t{sizeof wanted.v4} : kShortestV6)) return EINVAL;
    if (wanted.family() != family) return EAFNOSUPPORT;
    if (port_of(wanted) == 0) return ECONNREFUSED;
    if (!has_room(gateway)) return ENETUNREACH;

    base::Fd listener;
    Address bound;
    if (int number = listen_for(socket, wanted, listener, bound); number != 0) return number;
    int number = connect_within(socket, &bound.any, bound.length, kLongest);
    if (number == EALREADY) number = EINPROGRESS;
    if (number != 0 && number != EINPROGRESS) return number;
    // A socket that was being connected already has its other end elsewhere, and this asked how it went.
    if (number == 0 && !has_name(socket, ::getpeername, destination_of(bound))) return 0;
    base::Fd accepted = accept_peer_of(listener.get(), socket);
    int descriptor = accepted.get();
    bool is_handed = accepted && base::send_descriptors(gateway, encode(destination_of(wanted)),
                                                        std::span(&descriptor, 1));
    if (is_handed) return number;
    stop_connecting(socket);
    return ECONNREFUSED;
}

}  // namespace doorman
