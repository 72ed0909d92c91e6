// SPDX-License-Identifier: MIT
// A visitor's connection is accepted on the host's loopback. The connector provides a socket of the jail's
// namespace. It connects to the jail's 127.0.0.1, or to its ::1 if that fails. Then a relay joins the two.
#include "network/gateway/control/publish.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/text.h"
#include "network/gateway/relay/relay.h"
#include "network/netns/set_up.h"

namespace network::gateway {
namespace {

constexpr int kBacklog = 128;
constexpr std::chrono::milliseconds kBetweenReports{100};

// The option, or the verb for a session that runs.
std::string_view option_of(const Published& published) {
    return published.origin.name == kPublishVerb ? kPublishVerb : "--publish";
}

// For port 80: "--publish 8080:80".
std::string above_roots_ports(const Published& published) {
    return base::format("{} {}:{}", option_of(published), 8000 + published.host_port, published.jail_port);
}

base::Error cannot_publish(const Published& published, int number) {
    std::string attempt = "publish port " + std::to_string(published.host_port);
    base::Error error = base::system_error(std::move(attempt), number);
    error.advice = number == EACCES
                       ? "ports below 1024 are root's; take another: " + above_roots_ports(published)
                       : base::format(
                             "end the program that uses the host's port or publish another: "
                             "{} HOST:JAIL",
                             option_of(published));
    if (published.origin.name != kPublishVerb) error.where = published.origin.describe();
    return error;
}

}  // namespace

base::Result<base::Fd> open_port(const Published& published) {
    base::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    int on = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(published.host_port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bool is_listening =
        ::bind(socket.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof address) == 0 &&
        ::listen(socket.get(), kBacklog) == 0;
    if (is_listening) return socket;
    return cannot_publish(published, errno);
}

// One visitor, from the accept until both ends are closed.
class Publish::Visit : public base::Watcher {
  public:
    Visit(Publish& owner, base::Fd visitor, Published published)
        : owner_(owner),
          visitor_(std::move(visitor)),
          published_(std::move(published)),
          started_(base::EventLoop::Clock::now()) {}
    ~Visit() override {
        if (inside_) owner_.context_.loop.forget(slot_, inside_.get());
    }

    // False: no program listens in the jail, in either address family.
    bool connect(bool is_v6) {
        base::Result<base::Fd> inside =
            netns::connect_inside(owner_.connector_.get(), published_.jail_port, is_v6);
        if (!inside) return !is_v6 && connect(true);
        is_v6_ = is_v6;
        inside_ = *std::move(inside);
        slot_ = owner_.context_.loop.watch(inside_.get(), EPOLLOUT, *this);
        return true;
    }

    void on_ready(uint32_t, int) override {
        int number = 0;
        socklen_t length = sizeof number;
        ::getsockopt(inside_.get(), SOL_SOCKET, SO_ERROR, &number, &length);
        owner_.context_.loop.forget(slot_, inside_.get());
        slot_ = nullptr;
        if (number == 0) return relay();
        inside_.reset();
        if (is_v6_ || !connect(true)) end({}, false);
    }

    uint16_t host_port() const { return published_.host_port; }
    void record_unreachable() const { record({}, false); }
    // The session ends while the visit is open: writes its line now.
    void record_unfinished() const {
        if (relay_) record(relay_->counts(), true);
    }

  private:
    void relay() {
        relay_ = std::make_unique<Relay>(owner_.context_.loop, owner_.pipes_, std::move(visitor_),
                                         std::move(inside_), Pending{},
                                         [this](const Relay::Counts& counts) { end(counts, true); });
    }

    void end(const Relay::Counts& counts, bool was_connected) {
        record(counts, was_connected);
        owner_.context_.loop.later(
            [this] { owner_.visits_.remove_if([this](const auto& visit) { return visit.get() == this; }); });
    }

    void record(const Relay::Counts& counts, bool was_connected) const {
        using std::chrono::duration_cast;
        Entry entry{.kind = "publish", .protocol = "tcp", .port = published_.jail_port};
        entry.is_allowed = was_connected;
        entry.cause = was_connected ? "rule" : "unreachable";
        entry.rule = std::to_string(published_.host_port);
        entry.origin = published_.origin.describe();
        if (!was_connected) entry.reason = "nothing listens on that port in the jail";
        entry.sent = counts.from_second;
        entry.received = counts.from_first;
        entry.duration = duration_cast<std::chrono::milliseconds>(base::EventLoop::Clock::now() - started_);
        owner_.context_.journal.record(entry);
    }

    Publish& owner_;
    base::Fd visitor_, inside_;
    Published published_;
    base::EventLoop::Clock::time_point started_;
    base::EventLoop::Slot slot_ = nullptr;
    bool is_v6_ = false;
    std::unique_ptr<Relay> relay_;
};

class Publish::Port : public base::Watcher {
  public:
    Port(Publish& owner, base::Fd listener, Published published)
        : owner_(owner), listener_(std::move(listener)), published_(std::move(published)) {
        slot_ = owner_.context_.loop.watch(listener_.get(), EPOLLIN, *this);
    }
    ~Port() override {
        owner_.context_.loop.cancel(pause_);
        owner_.context_.loop.forget(slot_, listener_.get());
    }

    void on_ready(uint32_t, int) override {
        base::Fd visitor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        bool is_short =
            !visitor && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
        if (is_short) return pause();
        if (!visitor || owner_.visits_.size() >= owner_.context_.egress.most_connections) return;
        auto visit = std::make_unique<Visit>(owner_, std::move(visitor), published_);
        if (!visit->connect(false)) return visit->record_unreachable();
        owner_.visits_.push_back(std::move(visit));
    }

    uint16_t host_port() const { return published_.host_port; }

  private:
    // Out of descriptors. The listener would stay ready, and accept(2) would fail each time.
    void pause() {
        base::EventLoop& loop = owner_.context_.loop;
        loop.change(slot_, listener_.get(), 0);
        pause_ = loop.after(kBetweenReports, [this] {
            pause_ = 0;
            owner_.context_.loop.change(slot_, listener_.get(), EPOLLIN);
        });
    }

    Publish& owner_;
    base::Fd listener_;
    Published published_;
    base::EventLoop::Slot slot_;
    base::EventLoop::TimerId pause_ = 0;
};

Publish::Publish(GatewayContext& context, PipePool& pipes, base::Fd connector)
    : context_(context), pipes_(pipes), connector_(std::move(connector)) {}

Publish::~Publish() {
    for (const auto& visit : visits_) visit->record_unfinished();
}

base::Result<std::vector<base::Fd>> Publish::open(const std::vector<Published>& published) {
    std::vector<base::Fd> listeners;
    for (const Published& one : published) {
        base::Result<base::Fd> listener = open_port(one);
        if (!listener) return listener.error();
        listeners.push_back(*std::move(listener));
    }
    return listeners;
}

void Publish::listen(base::Fd listener, const Published& published) {
    ports_.push_back(std::make_unique<Port>(*this, std::move(listener), published));
}

bool Publish::end(uint16_t host_port) {
    bool was_open =
        std::erase_if(ports_, [&](const auto& port) { return port->host_port() == host_port; }) > 0;
    visits_.remove_if([&](std::unique_ptr<Visit>& visit) {
        if (visit->host_port() != host_port) return false;
        visit->record_unfinished();
        context_.loop.bury(std::move(visit));
        return true;
    });
    return was_open;
}

}  // namespace network::gateway
