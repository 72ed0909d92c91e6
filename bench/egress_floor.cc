// SPDX-License-Identifier: MIT
// egress_floor PORT ADDRESS TARGET-PORT: a minimal relay. It accepts on loopback, connects to one fixed
// address and splices both ways, without checks, questions or state. bench/egress compares with it.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

// One direction of a relay: from a socket through a pipe into the other one.
struct Way {
    int from, to, pipe[2];
    size_t held = 0;
    bool has_ended = false;
};
struct Relay {
    Way there{}, back{};
    bool is_dead = false;
};

bool would_wait(ssize_t result) {
    return result < 0 && errno == EAGAIN;
}

// False when the relay is over.
bool move(Way& way) {
    constexpr size_t kMost = 1 << 20;
    for (;;) {
        if (way.held == 0 && !way.has_ended) {
            const ssize_t got =
                splice(way.from, nullptr, way.pipe[1], nullptr, kMost, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
            if (would_wait(got)) return true;
            if (got < 0) return false;
            if (got == 0) {
                way.has_ended = true;
                shutdown(way.to, SHUT_WR);
            }
            way.held = static_cast<size_t>(got);
        }
        if (way.held == 0) return true;
        const ssize_t put =
            splice(way.pipe[0], nullptr, way.to, nullptr, way.held, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
        if (would_wait(put)) return true;
        if (put <= 0) return false;
        way.held -= static_cast<size_t>(put);
    }
}

void end(Relay* relay) {
    for (const int fd : {relay->there.from, relay->there.to, relay->there.pipe[0], relay->there.pipe[1],
                         relay->back.pipe[0], relay->back.pipe[1]})
        close(fd);
    relay->is_dead = true;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    sockaddr_in own{}, target{};
    own.sin_family = target.sin_family = AF_INET;
    own.sin_port = htons(static_cast<uint16_t>(std::atoi(argv[1])));
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    target.sin_port = htons(static_cast<uint16_t>(std::atoi(argv[3])));
    inet_pton(AF_INET, argv[2], &target.sin_addr);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), poll = epoll_create1(0), yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, reinterpret_cast<sockaddr*>(&own), sizeof own) != 0 || listen(listener, 4096) != 0)
        return 1;
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &wanted);
    std::vector<epoll_event> events(256);
    std::vector<Relay*> dead;
    for (;;) {
        const int ready = epoll_wait(poll, events.data(), static_cast<int>(events.size()), -1);
        for (int i = 0; i < ready; ++i) {
            auto* relay = static_cast<Relay*>(events[static_cast<size_t>(i)].data.ptr);
            if (relay == nullptr) {
                int client;
                while ((client = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) >= 0) {
                    const int server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
                    for (const int fd : {client, server})
                        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
                    if (connect(server, reinterpret_cast<sockaddr*>(&target), sizeof target) != 0 &&
                        errno != EINPROGRESS)
                        _exit(1);
                    relay = new Relay;
                    relay->there.from = relay->back.to = client;
                    relay->there.to = relay->back.from = server;
                    if (pipe2(relay->there.pipe, O_NONBLOCK) != 0 || pipe2(relay->back.pipe, O_NONBLOCK) != 0)
                        _exit(1);
                    wanted.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
                    wanted.data.ptr = relay;
                    epoll_ctl(poll, EPOLL_CTL_ADD, client, &wanted);
                    epoll_ctl(poll, EPOLL_CTL_ADD, server, &wanted);
                }
            } else if (!relay->is_dead && (!move(relay->there) || !move(relay->back) ||
                                           (relay->there.has_ended && relay->back.has_ended))) {
                end(relay);
                dead.push_back(relay);
            }
        }
        for (Relay* relay : dead) delete relay;
        dead.clear();
    }
}
