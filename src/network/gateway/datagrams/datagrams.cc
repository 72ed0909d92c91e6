// SPDX-License-Identifier: MIT
// The life of a flow. It is judged by name or literal address. A name is looked up while the flow's first
// datagrams wait in a queue. The flow connects to the first address that the policy allows and the kernel has
// a route to. It is then checked against the source address that the kernel chose. Bytes pass in both
// directions until the flow is silent for kIdle. A flow that ends is removed from the table and closed at
// once. It is destroyed after the current events.
#include "network/gateway/datagrams/datagrams.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <vector>

#include "base/text.h"
#include "network/gateway/broker/broker.h"
#include "network/gateway/control/messages.h"
#include "network/gateway/sockets.h"

namespace network::gateway {
namespace {

constexpr int kMostPerTurn = 64;  // datagrams of one socket before other sockets are served
constexpr size_t kLargestDatagram = 65'536;

struct FlowKey {
    Endpoint client;
    Endpoint destination;  // as the client sees it
    auto operator<=>(const FlowKey&) const = default;
};

// The reason why one of the gateway's addresses cannot be reached over UDP.
Verdict verdict_on_nameless(const Address& address) {
    Verdict verdict{.cause = Cause::literal, .reason = "no name has this address in this session"};
    if (is_fixed(address, Fixed::host)) verdict.reason = "services of the host are reached over TCP alone";
    return verdict;
}

// Threat: HTTP/3 carries requests over UDP, past the rules about requests and the checks of credentials
// (tests/egress/credential_threats.bats).
Verdict without_read_hosts(const Broker* broker, const HostName& name, Verdict verdict) {
    if (!verdict.is_allowed() || broker == nullptr || !broker->names(name)) return verdict;
    return {.cause = Cause::udp,
            .reason = "requests to this host are read, and HTTP/3 would carry them unread",
            .advice = base::format("requests.opaque = [\"{}\"] gives up the credentials and rules for it",
                                   name.str())};
}

Entry refusal(std::string_view cause, std::string reason) {
    Entry entry;
    entry.cause = cause;
    entry.reason = std::move(reason);
    return entry;
}

}  // namespace

struct Datagrams::State {
    explicit State(GatewayContext& its_context) : context(its_context), buffer(kLargestDatagram) {}

    GatewayContext& context;
    std::vector<char> buffer;  // shared by all sockets; empty between two calls
    std::vector<std::unique_ptr<Listener>> listeners;
    std::map<FlowKey, std::shared_ptr<Flow>> flows;
    OncePerSecond refusals;
    uint64_t last_id = 0;  // of a flow

    void take(int listener, uint16_t port, const ReceivedDatagram& datagram);
    Verdict judge(const HostName* name, const Endpoint& destination) const;
    bool make_room();
    void remove(const FlowKey& key);
    void record_refused(const HostName* name, const Endpoint& destination, Entry entry);
};

// ---- A flow

class Datagrams::Flow : public base::Watcher {
  public:
    Flow(State& state, const FlowKey& key, int listener, const SocketAddress& client, const HostName* name)
        : state_(state), key_(key), listener_(listener), client_(client), name_(name), id_(++state.last_id) {}
    ~Flow() override { close(); }

    void begin(const Verdict& verdict, std::string_view first);
    void send(std::string_view payload);
    void on_ready(uint32_t events, int which) override;
    // Closes, records and removes itself from the table.
    void end(std::string_view cause, std::string reason);

    // Judges name and address again, as when the flow was made.
    Verdict verdict_now() const;
    void end_for(const Verdict& verdict);
    ConnectionFacts facts() const;

    base::EventLoop::Clock::time_point last_use() const { return last_use_; }

  private:
    Verdict verdict_on(const Address& address) const;
    void connect_to(const std::vector<Address>& addresses);
    enum class Way { open, none, own };
    Way connect_socket(const Address& address);
    void refuse(Entry entry);
    void watch_for_silence(std::chrono::milliseconds delay);
    void close();

    State& state_;
    FlowKey key_;
    int listener_;
    SocketAddress client_;
    const HostName* name_;  // null for a literal address
    Entry entry_;
    std::optional<Address> real_address_;  // once it is connected
    uint64_t id_;

    std::vector<std::string> queue_;
    Resolver::Ticket ticket_ = 0;
    base::Fd socket_;
    base::EventLoop::Slot slot_ = nullptr;
    base::EventLoop::TimerId timer_ = 0;
    base::EventLoop::Clock::time_point begun_ = base::EventLoop::Clock::now();
    base::EventLoop::Clock::time_point last_use_ = begun_;
};

void Datagrams::Flow::begin(const Verdict& verdict, std::string_view first) {
    entry_ = entry_of(verdict);
    queue_.emplace_back(first);
    watch_for_silence(kIdle);
    if (!name_) return connect_to({key_.destination.address});
    // May call back before it returns; it then returns no ticket.
    ticket_ = state_.context.resolver.look_up(*name_, [this](const Resolution& resolution) {
        ticket_ = 0;
        switch (resolution.outcome) {
            case Resolution::Outcome::found:
                return connect_to(resolution.addresses);
            case Resolution::Outcome::failed:
                return end("unreachable", resolution.reason);
            case Resolution::Outcome::no_such_name:
            case Resolution::Outcome::no_address:
                return end("unreachable", "the name has no address");
        }
    });
}

void Datagrams::Flow::connect_to(const std::vector<Address>& addresses) {
    Entry closed = refusal("unreachable", "no way to any address of it");
    for (const Address& address : addresses) {
        Verdict verdict = verdict_on(address);
        if (!verdict.is_allowed()) {
            closed = entry_of(verdict);
            continue;
        }
        Way way = connect_socket(address);
        if (way == Way::own) {
            closed = refusal(to_text(Cause::address_floor), address.str() + ": an address of this host");
            continue;
        }
        if (way == Way::none) continue;
        real_address_ = address;
        // Record the verdict on name and address, not the one on the name alone.
        entry_ = entry_of(verdict);
        slot_ = state_.context.loop.watch(socket_.get(), EPOLLIN, *this);
        std::vector<std::string> queued = std::exchange(queue_, {});
        for (const std::string& payload : queued) {
            if (socket_) send(payload);
        }
        return;
    }
    refuse(std::move(closed));
}

// If the kernel's source address for a destination is the destination itself, it is an address of this host.
Datagrams::Flow::Way Datagrams::Flow::connect_socket(const Address& address) {
    SocketAddress peer(Endpoint{address, key_.destination.port});
    base::Fd socket(::socket(peer.family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket || ::connect(socket.get(), &peer.any, peer.length) != 0) return Way::none;
    std::optional<Endpoint> own = own_endpoint(socket.get());
    if (!own) return Way::none;
    if (own->address == address) return Way::own;
    socket_ = std::move(socket);
    return Way::open;
}

void Datagrams::Flow::send(std::string_view payload) {
    last_use_ = base::EventLoop::Clock::now();
    if (!socket_) {
        if (queue_.size() < kMostQueued) queue_.emplace_back(payload);
        return;
    }
    ssize_t sent = ::send(socket_.get(), payload.data(), payload.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) {
        entry_.sent += payload.size();
    } else if (errno == ECONNREFUSED || errno == EHOSTUNREACH || errno == ENETUNREACH) {
        end("unreachable", "no program listens there, or there is no route");
    }
}

void Datagrams::Flow::on_ready(uint32_t, int) {
    for (int i = 0; i < kMostPerTurn && socket_; ++i) {
        ssize_t count = ::recv(socket_.get(), state_.buffer.data(), state_.buffer.size(), 0);
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
        if (count < 0) return end("unreachable", "no program listens there, or there is no route");
        last_use_ = base::EventLoop::Clock::now();
        std::string_view payload(state_.buffer.data(), static_cast<size_t>(count));
        if (send_datagram(listener_, payload, client_, key_.destination.address))
            entry_.received += payload.size();
    }
}

void Datagrams::Flow::watch_for_silence(std::chrono::milliseconds delay) {
    timer_ = state_.context.loop.after(delay, [this] {
        timer_ = 0;
        auto silent = std::chrono::ceil<std::chrono::milliseconds>(base::EventLoop::Clock::now() - last_use_);
        if (silent >= kIdle) return end({}, {});
        watch_for_silence(kIdle - silent);
    });
}

void Datagrams::Flow::close() {
    queue_.clear();
    if (ticket_ != 0) state_.context.resolver.cancel(ticket_);
    if (timer_ != 0) state_.context.loop.cancel(timer_);
    if (slot_ != nullptr) state_.context.loop.forget(std::exchange(slot_, nullptr), socket_.get());
    socket_.reset();
}

void Datagrams::Flow::end(std::string_view cause, std::string reason) {
    close();
    entry_.kind = "datagrams";
    entry_.protocol = "udp";
    if (name_) entry_.name = name_->str();
    entry_.address = real_address_.value_or(key_.destination.address).str();
    entry_.port = key_.destination.port;
    if (!cause.empty()) entry_.cause = cause;
    if (!reason.empty()) entry_.reason = std::move(reason);
    entry_.duration =
        std::chrono::duration_cast<std::chrono::milliseconds>(base::EventLoop::Clock::now() - begun_);
    state_.context.journal.record(entry_);
    state_.remove(key_);
}

Verdict Datagrams::Flow::verdict_on(const Address& address) const {
    if (!name_) return state_.judge(nullptr, key_.destination);
    const GatewayContext& context = state_.context;
    return without_read_hosts(
        context.broker, *name_,
        context.engine.decide_resolved(*name_, address, key_.destination.port, Transport::udp));
}

Verdict Datagrams::Flow::verdict_now() const {
    return real_address_ ? verdict_on(*real_address_) : state_.judge(name_, key_.destination);
}

void Datagrams::Flow::end_for(const Verdict& verdict) {
    uint64_t sent = entry_.sent, received = entry_.received;
    entry_ = entry_of(verdict);
    entry_.is_allowed = false;
    entry_.sent = sent;
    entry_.received = received;
    end("policy change", {});
}

ConnectionFacts Datagrams::Flow::facts() const {
    return {
        .id = id_,
        .name = name_ ? name_->str() : std::string(),
        .address = real_address_.value_or(key_.destination.address).str(),
        .port = key_.destination.port,
        .protocol = "udp",
        .sent = entry_.sent,
        .received = entry_.received,
        .age = std::chrono::duration_cast<std::chrono::milliseconds>(base::EventLoop::Clock::now() - begun_)};
}

void Datagrams::Flow::refuse(Entry entry) {
    close();
    state_.record_refused(name_, key_.destination, std::move(entry));
    state_.remove(key_);
}

// ---- Datagrams from the jail

class Datagrams::Listener : public base::Watcher {
  public:
    Listener(State& state, base::Fd socket, uint16_t port)
        : state_(state), socket_(std::move(socket)), port_(port) {
        prepare_datagram_socket(socket_.get());
        slot_ = state_.context.loop.watch(socket_.get(), EPOLLIN, *this);
    }
    ~Listener() override { state_.context.loop.forget(slot_, socket_.get()); }

    void on_ready(uint32_t, int) override {
        for (int i = 0; i < kMostPerTurn; ++i) {
            Receipt receipt = receive_datagram(socket_.get(), state_.buffer);
            if (receipt.step == ReceiveStep::nothing_left) return;
            if (receipt.step == ReceiveStep::received) state_.take(socket_.get(), port_, receipt.datagram);
        }
    }

  private:
    State& state_;
    base::Fd socket_;
    uint16_t port_;
    base::EventLoop::Slot slot_ = nullptr;
};

void Datagrams::State::take(int listener, uint16_t port, const ReceivedDatagram& datagram) {
    std::optional<Endpoint> client = datagram.from.endpoint();
    if (!client) return;
    FlowKey key{*client, {datagram.to, port}};
    if (auto found = flows.find(key); found != flows.end()) return found->second->send(datagram.payload);

    const HostName* name = context.names.name_of(datagram.to);
    Verdict verdict = judge(name, key.destination);
    if (!verdict.is_allowed()) return record_refused(name, key.destination, entry_of(verdict));
    if (!make_room()) {
        std::string reason = base::format("more than {} flows of UDP at once", kMostFlows);
        return record_refused(name, key.destination, refusal("limit", std::move(reason)));
    }
    auto flow = std::make_shared<Flow>(*this, key, listener, datagram.from, name);
    flows.emplace(key, flow);
    flow->begin(verdict, datagram.payload);
}

Verdict Datagrams::State::judge(const HostName* name, const Endpoint& destination) const {
    if (name)
        return without_read_hosts(context.broker, *name,
                                  context.engine.decide({*name, destination.port, Transport::udp}));
    if (Names::is_ours(destination.address)) return verdict_on_nameless(destination.address);
    return context.engine.decide({destination.address, destination.port, Transport::udp});
}

bool Datagrams::State::make_room() {
    if (flows.size() < kMostFlows) return true;
    auto quietest =
        std::ranges::min_element(flows, {}, [](const auto& entry) { return entry.second->last_use(); });
    if (base::EventLoop::Clock::now() - quietest->second->last_use() < kGivesWay) return false;
    std::shared_ptr<Flow>(quietest->second)->end({}, {});
    return true;
}

void Datagrams::State::remove(const FlowKey& key) {
    auto found = flows.find(key);
    if (found == flows.end()) return;
    context.loop.bury(std::move(found->second));
    flows.erase(found);
}

void Datagrams::State::record_refused(const HostName* name, const Endpoint& destination, Entry entry) {
    std::string target =
        (name ? name->str() : destination.address.str()) + " " + std::to_string(destination.port);
    if (!refusals.admits(target, base::EventLoop::Clock::now())) return;
    entry.kind = "datagrams";
    entry.protocol = "udp";
    if (name) entry.name = name->str();
    if (!name) entry.address = destination.address.str();
    entry.port = destination.port;
    entry.is_allowed = false;
    context.journal.record(entry);
}

Datagrams::Datagrams(GatewayContext& context) : state_(std::make_unique<State>(context)) {}

Datagrams::~Datagrams() {
    // The record has one entry per flow. Write the entries of the flows that are still open.
    while (!state_->flows.empty()) std::shared_ptr<Flow>(state_->flows.begin()->second)->end({}, {});
}

void Datagrams::listen(base::Fd socket, uint16_t port) {
    state_->listeners.push_back(std::make_unique<Listener>(*state_, std::move(socket), port));
}

size_t Datagrams::judge_again() {
    std::vector<std::shared_ptr<Flow>> all;
    for (const auto& [key, flow] : state_->flows) all.push_back(flow);
    size_t closed = 0;
    for (const std::shared_ptr<Flow>& flow : all) {
        Verdict verdict = flow->verdict_now();
        if (verdict.is_allowed()) continue;
        flow->end_for(verdict);
        ++closed;
    }
    return closed;
}

std::vector<ConnectionFacts> Datagrams::list() const {
    std::vector<ConnectionFacts> list;
    for (const auto& [key, flow] : state_->flows) list.push_back(flow->facts());
    return list;
}

size_t Datagrams::flows() const {
    return state_->flows.size();
}

}  // namespace network::gateway
