// SPDX-License-Identifier: MIT
// Theory of operation. The socket is duplicated and the address copied, both once; what they are is judged on
// the copies, and the stage connects the duplicate, which is the caller's own socket. A caller that exchanges
// its descriptor or its address meanwhile changes nothing (tests/doorman/sockets_test.cc).
#include "doorman/sockets.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "doorman/backoff.h"
#include "doorman/handoff/connect_handoff.h"
#include "doorman/processes.h"

namespace doorman {
namespace {

constexpr std::chrono::microseconds kAtOnce{1};
constexpr size_t kPathOffset = offsetof(struct sockaddr_un, sun_path);
constexpr int kPeerProcess = 77;  // SO_PEERPIDFD, Linux 6.5

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

std::chrono::microseconds limit_of(int socket) {
    return Patience(socket, kAtOnce).original();
}

// The network is the caller's to use, and only the waiting is ours.
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
    switch (sockets.orders.internet) {
        case Internet::host:
            return connect_freely(caller, sockets, std::move(socket), address);
        case Internet::refused:
            return Answer::of(EACCES);
        case Internet::handed:
            break;
    }
    if (sockets.orders.owns_loopback && leads_to_loopback(address))
        return connect_freely(caller, sockets, std::move(socket), address);
    bool is_tcp =
        option(socket.get(), SO_TYPE) == SOCK_STREAM && option(socket.get(), SO_PROTOCOL) == IPPROTO_TCP;
    return Answer::of(is_tcp ? hand_over(socket.get(), address, sockets.orders.gateway) : EACCES);
}

bool is_closed_by_exec(const Caller& caller, int descriptor) {
    base::Result<std::string> text =
        base::read_file(caller.file("fdinfo") + "/" + std::to_string(descriptor), 1u << 16);
    size_t found = text ? text->find("flags:") : std::string::npos;
    constexpr int kOctal = 8;
    return found != std::string::npos &&
           (std::strtol(text->c_str() + found + 6, nullptr, kOctal) & O_CLOEXEC) != 0;
}

bool serves_inside(int socket) {
    int process = -1;
    socklen_t size = sizeof process;
    if (::getsockopt(socket, SOL_SOCKET, kPeerProcess, &process, &size) != 0) return false;
    base::Fd server(process);
    std::optional<pid_t> number = number_of(server.get());
    // What this process listens on, it does for a process inside (answer_listen).
    bool is_inside = number && (*number == ::getpid() || is_jailed(*number));
    // Its number was its own as long as it had not ended by now.
    return is_inside && number_of(server.get()) == number;
}

void copy_option(int from, int to, int name) {
    char value[64];
    socklen_t size = sizeof value;
    if (::getsockopt(from, SOL_SOCKET, name, value, &size) == 0)
        ::setsockopt(to, SOL_SOCKET, name, value, size);
}

// Threat: Landlock keeps abstract names inside by who connects, and that would be the stage, which stands
// outside. The kernel can't continue the call either: it reads the address again, which may be a path
// by then. So a socket of the stage's own is connected first; it becomes the caller's, in place of the one
// that it had, only when a process of the jail serves the name. What is outside sees a connection that ends
// without a byte. (tests/doorman/sockets_test.cc)
Answer connect_abstract(const Caller& caller, const Sockets& sockets, int socket, const Address& address) {
    if (sockets.orders.refuses_abstract) return Answer::of(EPERM);
    struct sockaddr_un own = {};
    socklen_t size = sizeof own;
    if (::getpeername(socket, reinterpret_cast<struct sockaddr*>(&own), &size) == 0)
        return Answer::of(EISCONN);
    base::Fd fresh(::socket(AF_UNIX, option(socket, SO_TYPE) | SOCK_CLOEXEC, 0));
    if (!fresh) return Answer::of(errno);
    if (int number = connect_within(fresh.get(), &address.any, address.length, kAtOnce); number != 0)
        return Answer::of(number);
    if (!serves_inside(fresh.get())) return Answer::of(EPERM);
    for (int name : {SO_PASSCRED, SO_RCVTIMEO, SO_SNDTIMEO}) copy_option(socket, fresh.get(), name);
    if (!is_blocking(socket)) ::fcntl(fresh.get(), F_SETFL, O_NONBLOCK);
    int descriptor = caller.number(0);
    struct seccomp_notif_addfd addition = {};
    addition.id = caller.id();
    addition.flags = SECCOMP_ADDFD_FLAG_SETFD;
    addition.srcfd = static_cast<uint32_t>(fresh.get());
    addition.newfd = static_cast<uint32_t>(descriptor);
    addition.newfd_flags = is_closed_by_exec(caller, descriptor) ? O_CLOEXEC : 0;
    if (::ioctl(sockets.listener, SECCOMP_IOCTL_NOTIF_ADDFD, &addition) < 0) return Answer::of(EPERM);
    return Answer::of(0);
}

Answer connect_unix(const Caller& caller, const Sockets& sockets, base::Fd socket, const Address& address) {
    bool is_guarded = sockets.orders.guards_sockets;
    int type = option(socket.get(), SO_TYPE);
    bool has_connections = type == SOCK_STREAM || type == SOCK_SEQPACKET;
    // None can be made; one may have been inherited.
    if (!has_connections && is_guarded) return Answer::of(EACCES);
    if (address.family() == AF_UNSPEC && address.length >= sizeof(sa_family_t))
        return Answer::of(connect_within(socket.get(), &address.any, address.length, kAtOnce));
    if (address.length <= kPathOffset || address.length > sizeof(struct sockaddr_un) ||
        address.family() != AF_UNIX)
        return Answer::of(EINVAL);
    const char* begin = reinterpret_cast<const char*>(&address.room) + kPathOffset;
    size_t length = address.length - kPathOffset;
    if (*begin == '\0') {
        return has_connections ? connect_abstract(caller, sockets, socket.get(), address) : Answer::of(EPERM);
    }

    Reference reference;
    reference.path.assign(begin, ::strnlen(begin, length));
    Object server;
    if (int number = open_object(caller, reference, server); number != 0) return Answer::of(number);
    if (!caller.is_waiting()) return Answer::of(EINTR);
    if (is_guarded && !lies_within(server, sockets.orders.sockets)) return Answer::of(EACCES);
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

int connect_to(int socket, const Object& server) {
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::string name = server.name();
    std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
    return connect_within(socket, reinterpret_cast<const struct sockaddr*>(&address), sizeof address,
                          kAtOnce);
}

Answer answer_connect(const Caller& caller, const Sockets& sockets) {
    base::Fd socket;
    if (int number = caller.take_descriptor(caller.number(0), socket); number != 0) return Answer::of(number);
    int family = option(socket.get(), SO_DOMAIN);
    if (family < 0) return Answer::of(ENOTSOCK);
    Address address;
    if (int number = read_address(caller, address); number != 0) return Answer::of(number);
    if (!caller.is_like_us()) return Answer::of(EPERM);
    if (!caller.is_waiting()) return Answer::of(EINTR);
    if (is_internet(family)) return connect_internet(caller, sockets, std::move(socket), address);
    if (family == AF_UNIX) return connect_unix(caller, sockets, std::move(socket), address);
    // Netlink: a matter of two numbers, done at once.
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
