// SPDX-License-Identifier: MIT
// Theory of operation. The stage duplicates the socket and copies the address, both once, and checks these.
// Then it connects the duplicate, which is the same socket as the caller's. Replacing the descriptor or the
// address meanwhile has no effect (tests/doorman/sockets_test.cc).
#include "doorman/sockets.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>

#include "base/process/descriptors.h"
#include "doorman/handoff/connect_handoff.h"

namespace doorman {
namespace {

struct timeval to_timeval(std::chrono::microseconds time) {
    return {time.count() / 1'000'000, time.count() % 1'000'000};
}

// Threat: the caller holds the same socket, and a thread of its own sets the limit back to "for ever" just
// before the kernel looks at it: the stage would wait for good, and neither signals nor the end of the
// command would be seen to (tests/jail/landlock_attacks.bats). A clock that only this process has ends the
// wait then.
class Interruptions {
  public:
    explicit Interruptions(std::chrono::microseconds limit) {
        struct sigaction action = {};
        action.sa_handler = [](int) {};  // and no SA_RESTART
        ::sigaction(SIGALRM, &action, nullptr);
        sigset_t alarm;
        sigemptyset(&alarm);
        sigaddset(&alarm, SIGALRM);
        ::pthread_sigmask(SIG_UNBLOCK, &alarm, &before_);
        // More than one: the first may come before the wait has begun.
        struct itimerval times = {to_timeval(kAgain), to_timeval(limit + kAgain)};
        ::setitimer(ITIMER_REAL, &times, nullptr);
    }
    ~Interruptions() {
        struct itimerval none = {};
        ::setitimer(ITIMER_REAL, &none, nullptr);
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    Interruptions(const Interruptions&) = delete;
    Interruptions& operator=(const Interruptions&) = delete;

  private:
    static constexpr std::chrono::microseconds kAgain{20'000};
    sigset_t before_ = {};
};

}  // namespace

Patience::Patience(int socket, std::chrono::microseconds limit) : socket_(socket) {
    socklen_t size = sizeof original_;
    ::getsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &original_, &size);
    struct timeval shortened = to_timeval(limit);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &shortened, sizeof shortened);
}

Patience::~Patience() {
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &original_, sizeof original_);
}

std::chrono::microseconds Patience::original() const {
    return std::chrono::seconds(original_.tv_sec) + std::chrono::microseconds(original_.tv_usec);
}

bool is_blocking(int socket) {
    int flags = ::fcntl(socket, F_GETFL);
    return flags >= 0 && !(flags & O_NONBLOCK);
}

int connect_within(int socket, const struct sockaddr* address, socklen_t length,
                   std::chrono::microseconds limit) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point deadline = Clock::now() + limit;
    Patience patience(socket, limit);
    Interruptions interruptions(limit);
    int returned = 0;
    do {
        returned = ::connect(socket, address, length);
    } while (returned != 0 && errno == EINTR && Clock::now() < deadline);
    if (returned == 0) return 0;
    if (errno != EINTR) return errno;
    return address->sa_family == AF_UNIX ? EAGAIN : EINPROGRESS;
}

namespace {

constexpr long kPeriod = 50'000'000;  // nanoseconds
// Each attempt takes a tick of the kernel's clock.
constexpr int kAttemptsAtOnce = 4;

// How the connection came out; none: not yet.
std::optional<int> outcome(const WaitingRoom::Guest& guest) {
    if (base::ready_events(guest.socket.get(), POLLOUT) == 0) return std::nullopt;
    int number = 0;
    socklen_t size = sizeof number;
    ::getsockopt(guest.socket.get(), SOL_SOCKET, SO_ERROR, &number, &size);
    return number;
}

std::optional<int> try_again(const WaitingRoom::Guest& guest) {
    int number = connect_to(guest.socket.get(), guest.server);
    return number == EAGAIN ? std::nullopt : std::optional(number);
}

}  // namespace

WaitingRoom::WaitingRoom(int gate)
    : gate_(gate), alarm_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
    struct epoll_event event = {.events = EPOLLIN, .data = {}};
    ::epoll_ctl(gate_, EPOLL_CTL_ADD, alarm_.get(), &event);
}

void WaitingRoom::set_alarm(bool is_on) {
    struct timespec period = {0, is_on ? kPeriod : 0};
    struct itimerspec times = {period, period};
    ::timerfd_settime(alarm_.get(), 0, &times, nullptr);
}

void WaitingRoom::admit(Guest guest) {
    guest.deadline = Clock::now() + guest.limit;
    if (!guest.server.descriptor) {
        struct epoll_event event = {.events = EPOLLOUT | EPOLLONESHOT, .data = {}};
        ::epoll_ctl(gate_, EPOLL_CTL_ADD, guest.socket.get(), &event);
    }
    guests_.push_back(std::move(guest));
    set_alarm(true);
}

void WaitingRoom::review(const std::function<bool(uint64_t)>& is_waiting,
                         const std::function<void(uint64_t, Answer)>& send) {
    uint64_t times = 0;
    (void)!::read(alarm_.get(), &times, sizeof times);
    if (guests_.empty()) return;
    int attempts = times > 0 ? kAttemptsAtOnce : 0;
    Clock::time_point now = Clock::now();
    for (size_t left = guests_.size(); left > 0; --left) {
        std::list<Guest> taken;
        taken.splice(taken.begin(), guests_, guests_.begin());
        Guest& guest = taken.front();
        bool is_unix = bool(guest.server.descriptor);
        std::optional<int> number;
        if (!is_waiting(guest.id)) {
            number = 0;  // the caller does not wait any more
        } else if (!is_unix) {
            number = outcome(guest);
        } else if (attempts > 0) {
            --attempts;
            number = try_again(guest);
        }
        if (!number && guest.limit.count() > 0 && now >= guest.deadline)
            number = is_unix ? EAGAIN : EINPROGRESS;
        if (!number) {
            guests_.splice(guests_.end(), taken);  // behind the others: everyone has a turn
            continue;
        }
        // The caller holds the same socket, so closing ours would not take it out.
        if (!is_unix) ::epoll_ctl(gate_, EPOLL_CTL_DEL, guest.socket.get(), nullptr);
        send(guest.id, Answer::of(*number));
    }
    if (guests_.empty()) set_alarm(false);
}

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
    bool is_own = sockets.calls.owns_loopback && leads_to_loopback(address) &&
                  !leads_to_host_port(address, sockets.calls.host_ports);
    if (is_own) return connect_freely(caller, sockets, std::move(socket), address);
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
