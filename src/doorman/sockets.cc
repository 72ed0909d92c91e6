// SPDX-License-Identifier: MIT
// Theory of operation. The stage duplicates the socket and copies the address, both once, and checks these.
// Then it connects the duplicate, which is the same socket as the caller's. Replacing the descriptor or the
// address meanwhile has no effect (tests/doorman/sockets_test.cc).
#include "doorman/sockets.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "doorman/backoff.h"
#include "doorman/handoff/connect_handoff.h"

namespace doorman {
namespace {

constexpr std::chrono::microseconds kAtOnce{1};

std::chrono::microseconds limit_of(int socket) {
    return Patience(socket, kAtOnce).original();
}

// The caller may use the network. The stage only avoids waiting for it.
Answer connect_freely(const Caller& caller, const Sockets& sockets, base::Fd socket, const Address& address) {
    bool waits = is_blocking(socket.get());
    int number = connect_within(socket.get(), &address.any, address.length, kAtOnce);
    if (!waits || (number != EINPROGRESS && number != EALREADY)) return Answer::of(number);
    std::chrono::microseconds limit = limit_of(socket.get());
    sockets.waiting_room.admit(
        {.id = caller.id(), .socket = std::move(socket), .server = {}, .limit = limit, .deadline = {}});
    return Answer::later();
}

Answer connect_internet(const Caller& caller, const Sockets& sockets, base::Fd socket,
                        const Address& address) {
    switch (sockets.calls.internet) {
        case Internet::host:
            return connect_freely(caller, sockets, std::move(socket), address);
        case Internet::refused:
            return Answer::of(EACCES);
        case Internet::handed:
            break;
    }
    if (sockets.calls.owns_loopback && leads_to_loopback(address))
        return connect_freely(caller, sockets, std::move(socket), address);
    bool is_tcp =
        option(socket.get(), SO_TYPE) == SOCK_STREAM && option(socket.get(), SO_PROTOCOL) == IPPROTO_TCP;
    return Answer::of(is_tcp ? hand_over(socket.get(), address, sockets.calls.gateway) : EACCES);
}

Answer connect_unix(const Caller& caller, const Sockets& sockets, base::Fd socket, const Address& address) {
    bool is_guarded = sockets.calls.guards_sockets;
    int type = option(socket.get(), SO_TYPE);
    bool has_connections = type == SOCK_STREAM || type == SOCK_SEQPACKET;
    // Such a socket can't be made, but it may be inherited.
    if (!has_connections && is_guarded) return Answer::of(EACCES);
    if (address.family() == AF_UNSPEC && address.length >= sizeof(sa_family_t))
        return Answer::of(connect_within(socket.get(), &address.any, address.length, kAtOnce));
    if (address.length <= kPathOffset || address.length > sizeof(struct sockaddr_un) ||
        address.family() != AF_UNIX)
        return Answer::of(EINVAL);
    const char* begin = reinterpret_cast<const char*>(&address.room) + kPathOffset;
    size_t length = address.length - kPathOffset;
    // No process of the jail can bind such a name (abstract_names.h). Programs that try an abstract name
    // before a path expect this answer if nothing listens there.
    if (*begin == '\0') return Answer::of(ECONNREFUSED);

    Reference reference;
    reference.path.assign(begin, ::strnlen(begin, length));
    Object server;
    if (int number = open_object(caller, reference, server); number != 0) return Answer::of(number);
    if (!caller.is_waiting()) return Answer::of(EINTR);
    if (is_guarded && !lies_within(server, sockets.calls.sockets)) return Answer::of(EACCES);
    bool waits = is_blocking(socket.get());
    int number = connect_to(socket.get(), server);
    if (!waits || number != EAGAIN) return Answer::of(number);
    std::chrono::microseconds limit = limit_of(socket.get());
    sockets.waiting_room.admit({.id = caller.id(),
                                .socket = std::move(socket),
                                .server = std::move(server),
                                .limit = limit,
                                .deadline = {}});
    return Answer::later();
}

}  // namespace

int option(int socket, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return ::getsockopt(socket, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

bool is_internet(int family) {
    return family == AF_INET || family == AF_INET6;
}

int read_address(const Caller& caller, Address& address) {
    int length = caller.number(2);
    if (length < 0 || static_cast<size_t>(length) > sizeof address.room) return EINVAL;
    address.length = static_cast<socklen_t>(length);
    return caller.read_memory(caller.argument(1), &address.room, address.length);
}

int connect_to(int socket, const Object& server) {
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::string name = server.name();
    std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
    return connect_within(socket, reinterpret_cast<const struct sockaddr*>(&address), sizeof address,
                          kAtOnce);
}

int take_socket_and_address(const Caller& caller, base::Fd& socket, int& family, Address& address) {
    if (int number = caller.take_descriptor(caller.number(0), socket); number != 0) return number;
    family = option(socket.get(), SO_DOMAIN);
    if (family < 0) return ENOTSOCK;
    if (int number = read_address(caller, address); number != 0) return number;
    if (!caller.is_like_us()) return EPERM;
    return caller.is_waiting() ? 0 : EINTR;
}

Answer answer_connect(const Caller& caller, const Sockets& sockets) {
    base::Fd socket;
    int family = -1;
    Address address;
    if (int number = take_socket_and_address(caller, socket, family, address); number != 0)
        return Answer::of(number);
    if (is_internet(family)) return connect_internet(caller, sockets, std::move(socket), address);
    if (family == AF_UNIX) return connect_unix(caller, sockets, std::move(socket), address);
    // Netlink connects at once.
    return Answer::of(connect_within(socket.get(), &address.any, address.length, kAtOnce));
}

Answer answer_listen(const Caller& caller) {
    base::Fd socket;
    if (int number = caller.take_descriptor(caller.number(0), socket); number != 0) return Answer::of(number);
    int family = option(socket.get(), SO_DOMAIN);
    if (family < 0) return Answer::of(ENOTSOCK);
    if (is_internet(family) || !caller.is_waiting()) return Answer::of(EACCES);
    return Answer::of(::listen(socket.get(), caller.number(1)) == 0 ? 0 : errno);
}

}  // namespace doorman
