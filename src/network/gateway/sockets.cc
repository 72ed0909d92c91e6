// SPDX-License-Identifier: MIT
#include "network/gateway/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>

#include <cerrno>
#include <cstring>

namespace network::gateway {

SocketAddress::SocketAddress(const Endpoint& endpoint) : room{} {
    if (endpoint.address.is_v4()) {
        v4.sin_family = AF_INET;
        v4.sin_port = htons(endpoint.port);
        v4.sin_addr = to_in_addr(endpoint.address);
        length = sizeof v4;
        return;
    }
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(endpoint.port);
    v6.sin6_addr = to_in6_addr(endpoint.address);
    length = sizeof v6;
}

std::optional<Endpoint> SocketAddress::endpoint() const {
    if (family() == AF_INET) return Endpoint{address_of(v4.sin_addr), ntohs(v4.sin_port)};
    if (family() == AF_INET6) return Endpoint{address_of(v6.sin6_addr), ntohs(v6.sin6_port)};
    return std::nullopt;
}

std::optional<Endpoint> own_endpoint(int socket) {
    SocketAddress own;
    own.length = sizeof own.room;
    if (::getsockname(socket, &own.any, &own.length) != 0) return std::nullopt;
    return own.endpoint();
}

std::optional<Endpoint> peer_endpoint(int socket) {
    SocketAddress peer;
    peer.length = sizeof peer.room;
    if (::getpeername(socket, &peer.any, &peer.length) != 0) return std::nullopt;
    return peer.endpoint();
}

Address address_of(const struct in_addr& address) {
    std::array<uint8_t, 4> bytes;
    std::memcpy(bytes.data(), &address, bytes.size());
    return Address::from_v4(bytes);
}

Address address_of(const struct in6_addr& address) {
    Address::Bytes bytes;
    std::memcpy(bytes.data(), &address, bytes.size());
    return Address::from_v6(bytes);
}

struct in_addr to_in_addr(const Address& address) {
    struct in_addr made = {};
    std::memcpy(&made, address.bytes().data() + 12, sizeof made);
    return made;
}

struct in6_addr to_in6_addr(const Address& address) {
    struct in6_addr made = {};
    std::memcpy(&made, address.bytes().data(), sizeof made);
    return made;
}

}  // namespace network::gateway

#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND 78
#endif

namespace network::gateway {
namespace {

union ControlRoom {
    struct cmsghdr alignment;
    char v4[CMSG_SPACE(sizeof(struct in_pktinfo))];
    char v6[CMSG_SPACE(sizeof(struct in6_pktinfo))];
    char all[CMSG_SPACE(sizeof(struct in_pktinfo)) + CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

std::optional<Address> destination_of(struct msghdr& message) {
    for (struct cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr;
         control = CMSG_NXTHDR(&message, control)) {
        if (control->cmsg_level == IPPROTO_IP && control->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            std::memcpy(&info, CMSG_DATA(control), sizeof info);
            return address_of(info.ipi_addr);
        }
        if (control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            std::memcpy(&info, CMSG_DATA(control), sizeof info);
            return address_of(info.ipi6_addr);
        }
    }
    return std::nullopt;
}

template <typename Info>
void put_control(struct msghdr& message, int level, int type, const Info& info) {
    message.msg_controllen = CMSG_SPACE(sizeof info);
    struct cmsghdr* control = CMSG_FIRSTHDR(&message);
    control->cmsg_level = level;
    control->cmsg_type = type;
    control->cmsg_len = CMSG_LEN(sizeof info);
    std::memcpy(CMSG_DATA(control), &info, sizeof info);
}

}  // namespace

void prepare_datagram_socket(int socket) {
    int on = 1, domain = 0;
    socklen_t length = sizeof domain;
    ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &length);
    if (domain == AF_INET6) {
        ::setsockopt(socket, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
        // For IPv4 a local route makes an address ours. For IPv6 the address must be on a device, or this
        // option set.
        ::setsockopt(socket, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof on);
    } else {
        ::setsockopt(socket, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    }
    int flags = ::fcntl(socket, F_GETFL);
    if ((flags & O_NONBLOCK) == 0) ::fcntl(socket, F_SETFL, flags | O_NONBLOCK);
}

Receipt receive_datagram(int socket, std::span<char> bytes) {
    Receipt receipt;
    ControlRoom control;
    struct iovec piece = {bytes.data(), bytes.size()};
    struct msghdr message = {};
    message.msg_name = &receipt.datagram.from.room;
    message.msg_namelen = sizeof receipt.datagram.from.room;
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    ssize_t count = ::recvmsg(socket, &message, 0);
    if (count < 0) {
        bool is_empty = errno == EAGAIN || errno == EWOULDBLOCK || errno == EBADF;
        receipt.step = is_empty ? ReceiveStep::nothing_left : ReceiveStep::skipped;
        return receipt;
    }
    receipt.step = ReceiveStep::skipped;
    std::optional<Address> to = destination_of(message);
    if (!to || (message.msg_flags & MSG_TRUNC) != 0) return receipt;
    receipt.datagram.from.length = message.msg_namelen;
    receipt.datagram.to = *to;
    receipt.datagram.payload = {bytes.data(), static_cast<size_t>(count)};
    receipt.step = ReceiveStep::received;
    return receipt;
}

bool send_datagram(int socket, std::string_view payload, const SocketAddress& to, const Address& from) {
    ControlRoom control = {};
    struct iovec piece = {const_cast<char*>(payload.data()), payload.size()};
    struct msghdr message = {};
    message.msg_name = const_cast<struct sockaddr*>(&to.any);
    message.msg_namelen = to.length;
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    if (to.family() == AF_INET) {
        put_control(message, IPPROTO_IP, IP_PKTINFO,
                    in_pktinfo{.ipi_ifindex = 0, .ipi_spec_dst = to_in_addr(from), .ipi_addr = {}});
    } else {
        put_control(message, IPPROTO_IPV6, IPV6_PKTINFO,
                    in6_pktinfo{.ipi6_addr = to_in6_addr(from), .ipi6_ifindex = 0});
    }
    return ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

}  // namespace network::gateway
