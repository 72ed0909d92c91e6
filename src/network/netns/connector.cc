// SPDX-License-Identifier: MIT
#include "network/netns/connector.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <span>
#include <string>

#include "base/format.h"
#include "base/process/pass_descriptors.h"

namespace network::netns {
namespace {

base::Fd start_connecting(uint16_t port, bool is_v6) {
    base::Fd socket(::socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return socket;
    struct sockaddr_in v4 = {};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct sockaddr_in6 v6 = {};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    v6.sin6_addr = in6addr_loopback;
    const auto* address =
        is_v6 ? reinterpret_cast<const struct sockaddr*>(&v6) : reinterpret_cast<const struct sockaddr*>(&v4);
    socklen_t length = is_v6 ? sizeof v6 : sizeof v4;
    if (::connect(socket.get(), address, length) != 0 && errno != EINPROGRESS) return {};
    return socket;
}

}  // namespace

void serve_connections(int socket) {
    for (;;) {
        base::Result<base::PassedDescriptors> request = base::receive_descriptors(socket);
        if (!request || request->note.size() < 2) ::_exit(0);
        bool is_v6 = request->note[0] == '6';
        auto port = static_cast<uint16_t>(std::atoi(request->note.c_str() + 1));
        base::Fd connecting = start_connecting(port, is_v6);
        int number = connecting.get();
        std::span<const int> passed(&number, connecting ? 1 : 0);
        if (!base::send_descriptors(socket, connecting ? "ok" : "refused", passed)) ::_exit(0);
    }
}

base::Result<base::Fd> connect_inside(int connector, uint16_t port, bool is_v6) {
    std::string request = (is_v6 ? "6" : "4") + std::to_string(port);
    if (base::Status sent = base::send_descriptors(connector, request, {}); !sent) return sent.error();
    base::Result<base::PassedDescriptors> reply = base::receive_descriptors(connector);
    if (!reply) return reply.error();
    if (reply->descriptors.empty()) {
        return base::Error{.what = base::format("nothing listens on port {} in the jail", port)};
    }
    return std::move(reply->descriptors.front());
}

}  // namespace network::netns
