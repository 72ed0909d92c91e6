// SPDX-License-Identifier: MIT
#include "network/gateway/connections/acceptor.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/process/descriptors.h"
#include "base/text.h"
#include "doorman/handoff/connect_handoff.h"
#include "network/gateway/connections/connection.h"
#include "network/gateway/control/messages.h"

namespace network::gateway {
namespace {

constexpr int kMostAtOnce = 64;
constexpr std::chrono::milliseconds kPauseWithoutDescriptors{100};
constexpr std::chrono::milliseconds kSweep{1000};
// From linux/netfilter_ipv4.h and netfilter_ipv6/ip6_tables.h, which conflict with the C library's headers.
constexpr int kOriginalDestination = 80;

std::optional<Endpoint> original_destination(int socket) {
    // An IPv6 socket may carry an IPv4 connection. The kernel then stores its destination at the IPv4 level.
    for (int level : {SOL_IP, SOL_IPV6}) {
        SocketAddress address;
        address.length = sizeof address.room;
        if (::getsockopt(socket, level, kOriginalDestination, &address.any, &address.length) != 0) continue;
        if (std::optional<Endpoint> found = address.endpoint()) return found;
    }
    return std::nullopt;
}

}  // namespace

struct Acceptor::State {
    struct Listener {
        base::Fd socket;
        Origin origin;
        base::EventLoop::Slot slot;
        base::EventLoop::TimerId pause = 0;
    };

    State(GatewayContext& context, NameServer& name_server, Connect connect)
        : shared{.context = context,
                 .name_server = name_server,
                 .connect = std::move(connect),
                 .services = {},
                 .pipes = {},
                 .leave = {}} {}

    ConnectionContext shared;
    std::vector<Listener> listeners;
    std::unordered_map<Connection*, std::unique_ptr<Connection>> connections;
    OncePerSecond limit_lines;
    base::EventLoop::TimerId sweep = 0;
};

Acceptor::Acceptor(GatewayContext& context, NameServer& name_server, Connect connect)
    : state_(std::make_unique<State>(context, name_server, std::move(connect))) {
    read_services();
    state_->shared.leave = [this](Connection& connection) {
        auto found = state_->connections.find(&connection);
        if (found == state_->connections.end()) return;
        state_->shared.context.loop.bury(std::move(found->second));
        state_->connections.erase(found);
    };
}

void Acceptor::read_services() {
    // The engine was made from the same entries, so they are valid.
    if (auto services = parse_host_services(state_->shared.context.egress.rules.host_services))
        state_->shared.services = std::move(*services);
}

Acceptor::~Acceptor() {
    base::EventLoop& loop = state_->shared.context.loop;
    for (State::Listener& listener : state_->listeners) {
        loop.forget(listener.slot, listener.socket.get());
        loop.cancel(listener.pause);
    }
    loop.cancel(state_->sweep);
    for (const auto& [connection, owner] : state_->connections) connection->record_unfinished();
}

void Acceptor::listen(base::Fd listener, Origin origin) {
    // Accepted sockets inherit it. This saves one call per connection.
    int yes = 1;
    ::setsockopt(listener.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    int index = static_cast<int>(state_->listeners.size());
    base::EventLoop::Slot slot = state_->shared.context.loop.watch(listener.get(), EPOLLIN, *this, index);
    state_->listeners.push_back({std::move(listener), origin, slot});
}

void Acceptor::on_ready(uint32_t, int which) {
    accept_from(static_cast<size_t>(which));
}

void Acceptor::accept_from(size_t index) {
    State::Listener& listener = state_->listeners[index];
    for (int i = 0; i < kMostAtOnce; ++i) {
        base::Fd client(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (client) {
            std::optional<Endpoint> destination = listener.origin == Origin::redirected
                                                      ? original_destination(client.get())
                                                      : own_endpoint(client.get());
            if (destination) admit(std::move(client), *destination);
            continue;
        }
        bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        if (is_short) return pause(index);
        // This client has left; others may wait behind it.
        if (errno != ECONNABORTED && errno != EINTR) return;
    }
}

// Out of descriptors. The listener would stay ready, and accept(2) would fail each time.
void Acceptor::pause(size_t index) {
    base::EventLoop& loop = state_->shared.context.loop;
    State::Listener& listener = state_->listeners[index];
    if (listener.pause != 0) return;
    if (state_->limit_lines.admits("descriptors", base::EventLoop::Clock::now())) {
        state_->shared.context.journal.record(
            {.kind = "connection",
             .protocol = "tcp",
             .cause = "limit",
             .reason = "the gateway has no descriptors left: new connections wait until some are closed"});
    }
    loop.change(listener.slot, listener.socket.get(), 0);
    listener.pause = loop.after(kPauseWithoutDescriptors, [this, index] {
        State::Listener& paused = state_->listeners[index];
        paused.pause = 0;
        state_->shared.context.loop.change(paused.slot, paused.socket.get(), EPOLLIN);
    });
}

void Acceptor::admit(base::Fd client, const Endpoint& destination) {
    GatewayContext& context = state_->shared.context;
    if (state_->connections.size() >= context.egress.most_connections) return turn_away(std::move(client));
    Stream stream(context.loop, std::move(client));
    auto connection = std::make_unique<Connection>(state_->shared, std::move(stream), destination);
    Connection& admitted = *connection;
    state_->connections.emplace(&admitted, std::move(connection));
    if (state_->sweep == 0) state_->sweep = context.loop.after(kSweep, [this] { sweep(); });
    admitted.start();
}

void Acceptor::turn_away(base::Fd client) {
    GatewayContext& context = state_->shared.context;
    Stream(context.loop, std::move(client)).reset();
    if (!state_->limit_lines.admits("connections", base::EventLoop::Clock::now())) return;
    context.journal.record(
        {.kind = "connection",
         .protocol = "tcp",
         .cause = "limit",
         .reason = base::format("more than {} connections at once", context.egress.most_connections)});
}

void Acceptor::sweep() {
    state_->sweep = 0;
    base::EventLoop::Clock::time_point now = base::EventLoop::Clock::now();
    for (Connection* connection : all()) connection->sweep(now);
    if (!state_->connections.empty()) {
        state_->sweep = state_->shared.context.loop.after(kSweep, [this] { sweep(); });
    }
}

// A copy, because a connection that leaves changes the map. It is destroyed only at the end of the turn.
std::vector<Connection*> Acceptor::all() const {
    std::vector<Connection*> all;
    all.reserve(state_->connections.size());
    for (const auto& [connection, owner] : state_->connections) all.push_back(connection);
    return all;
}

size_t Acceptor::judge_again() {
    read_services();
    size_t closed = 0;
    for (Connection* connection : all()) closed += connection->judge_again() ? 1 : 0;
    return closed;
}

std::vector<ConnectionFacts> Acceptor::list() const {
    std::vector<ConnectionFacts> list;
    for (Connection* connection : all()) {
        if (std::optional<ConnectionFacts> facts = connection->facts()) list.push_back(std::move(*facts));
    }
    std::ranges::sort(list, {}, &ConnectionFacts::id);
    return list;
}

size_t Acceptor::connections() const {
    return state_->connections.size();
}

int Acceptor::socket_inside() const {
    return state_->listeners.empty() ? -1 : state_->listeners.front().socket.get();
}

namespace {

Endpoint endpoint_of(const doorman::Destination& destination) {
    if (destination.is_v6) {
        Address::Bytes bytes;
        std::copy_n(destination.address, bytes.size(), bytes.begin());
        return {Address::from_v6(bytes), destination.port};
    }
    std::array<uint8_t, 4> bytes;
    std::copy_n(destination.address, bytes.size(), bytes.begin());
    return {Address::from_v4(bytes), destination.port};
}

}  // namespace

PassedAcceptor::PassedAcceptor(GatewayContext& context, Acceptor& acceptor, base::Fd stage)
    : context_(context), acceptor_(acceptor), stage_(std::move(stage)) {
    slot_ = context_.loop.watch(stage_.get(), EPOLLIN, *this);
}

PassedAcceptor::~PassedAcceptor() {
    close();
}

void PassedAcceptor::close() {
    if (!stage_) return;
    context_.loop.forget(slot_, stage_.get());
    stage_.reset();
}

void PassedAcceptor::on_ready(uint32_t events, int) {
    if (!stage_) return;
    base::Result<base::PassedDescriptors> passed = base::receive_descriptors(stage_.get());
    // Without a free descriptor the kernel delivers the message without the client's socket and closes it.
    // The client sees the end of its connection.
    bool has_ended = passed ? passed->note.empty() : (events & EPOLLHUP) != 0;
    if (has_ended) return close();
    if (!passed) return;
    std::optional<doorman::Destination> destination = doorman::decode(passed->note);
    if (!destination || passed->descriptors.size() != 1) return;
    base::Fd client = std::move(passed->descriptors.front());
    int yes = 1;
    ::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ::fcntl(client.get(), F_SETFL, O_NONBLOCK);
    acceptor_.admit(std::move(client), endpoint_of(*destination));
}

}  // namespace network::gateway
