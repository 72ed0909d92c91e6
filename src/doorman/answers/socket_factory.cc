// SPDX-License-Identifier: MIT
// Theory of operation. A socket stays in the network namespace of the process that made it. The process that
// answers calls of the jail can't enter another network namespace: that needs another user namespace, from
// which it has no power over the jail. So it sends requests to this process, over a pair of sockets:
//
//   client                                  factory
//   sends the arguments              →      calls socket(2) or socketpair(2)
//   receives the descriptors         ←      sends an errno and the descriptors
#include "doorman/answers/socket_factory.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <type_traits>

#include "base/process/pass_descriptors.h"

namespace doorman {
namespace {

template <typename T>
std::string_view bytes_of(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <typename T>
bool take(std::string_view note, T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (note.size() != sizeof value) return false;
    std::memcpy(&value, note.data(), sizeof value);
    return true;
}

int make(const SocketRequest& request, base::Fd (&made)[2]) {
    int type = request.type | SOCK_CLOEXEC;
    if (!request.is_pair) {
        made[0] = base::Fd(::socket(AF_UNIX, type, request.protocol));
        return made[0] ? 0 : errno;
    }
    int ends[2];
    if (::socketpair(AF_UNIX, type, request.protocol, ends) != 0) return errno;
    made[0] = base::Fd(ends[0]);
    made[1] = base::Fd(ends[1]);
    return 0;
}

}  // namespace

int leave_network(const std::vector<int>& spaces) {
    if (spaces.empty()) return ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 ? 0 : errno;
    for (int space : spaces) {
        if (::setns(space, 0) != 0) return errno;
    }
    return 0;
}

void serve_sockets(int channel) {
    for (;;) {
        base::Result<base::PassedDescriptors> asked = base::receive_descriptors(channel);
        SocketRequest request;
        if (!asked || !take(asked->note, request)) return;
        base::Fd made[2];
        int number = make(request, made);
        const int passed[] = {made[0].get(), made[1].get()};
        size_t count = (made[0] ? 1u : 0u) + (made[1] ? 1u : 0u);
        if (base::send_descriptors(channel, bytes_of(number), std::span(passed).first(count))) continue;
        // The user has too many descriptors in queues of sockets (ETOOMANYREFS), which may change.
        if (!base::send_descriptors(channel, bytes_of(int{EMFILE}), {})) return;
    }
}

int make_sockets(int channel, const SocketRequest& request, std::vector<base::Fd>& made) {
    // A stopped factory must not block the client.
    constexpr struct timeval kLongestWait = {2, 0};
    ::setsockopt(channel, SOL_SOCKET, SO_RCVTIMEO, &kLongestWait, sizeof kLongestWait);
    int number = 0;
    base::Result<base::PassedDescriptors> answer =
        base::send_descriptors(channel, bytes_of(request), {})
            ? base::receive_descriptors(channel)
            : base::Result<base::PassedDescriptors>(base::Error{.what = "the socket factory is gone"});
    if (!answer || !take(answer->note, number)) {
        ::shutdown(channel, SHUT_RDWR);  // a late answer would be mistaken for the next one
        return EACCES;
    }
    made = std::move(answer->descriptors);
    if (number == 0 && made.size() != (request.is_pair ? 2u : 1u)) return EACCES;
    return number;
}

}  // namespace doorman
