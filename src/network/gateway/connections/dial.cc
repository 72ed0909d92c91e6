// SPDX-License-Identifier: MIT
#include "network/gateway/connections/dial.h"

#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace network::gateway {
namespace {

// Alternates the two address families. Each family keeps its order.
std::vector<Endpoint> alternate(const std::vector<Endpoint>& endpoints) {
    bool is_first_v4 = endpoints.front().address.is_v4();
    std::vector<Endpoint> first, other, mixed;
    for (const Endpoint& endpoint : endpoints) {
        (endpoint.address.is_v4() == is_first_v4 ? first : other).push_back(endpoint);
    }
    for (size_t i = 0; i < std::max(first.size(), other.size()); ++i) {
        if (i < first.size()) mixed.push_back(first[i]);
        if (i < other.size()) mixed.push_back(other[i]);
    }
    if (mixed.size() > Dial::kMostAddresses) mixed.resize(Dial::kMostAddresses);
    return mixed;
}

}  // namespace

int connect_socket(int socket, const Endpoint& endpoint) {
    SocketAddress address(endpoint);
    return ::connect(socket, &address.any, address.length);
}

Dial::Dial(base::EventLoop& loop, const Connect& connect, std::vector<Endpoint> endpoints, Done done)
    : loop_(loop),
      connect_(connect),
      endpoints_(endpoints.size() > 1 ? alternate(endpoints) : std::move(endpoints)),
      done_(std::move(done)) {}

Dial::~Dial() {
    loop_.cancel(timer_);
}

void Dial::start() {
    began_ = base::EventLoop::Clock::now();
    begin_next();
    if (!is_finished_) timer_ = loop_.after(kNextBeside, [this] { tick(); });
}

bool Dial::begin(const Endpoint& endpoint) {
    int family = endpoint.address.is_v4() ? AF_INET : AF_INET6;
    base::Fd socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket) {
        error_ = errno;
        return false;
    }
    int yes = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    bool is_connected = connect_(socket.get(), endpoint) == 0;
    if (!is_connected && errno != EINPROGRESS) {
        error_ = errno;
        return false;
    }
    attempts_.push_back({Stream(loop_, std::move(socket)), endpoint, base::EventLoop::Clock::now()});
    if (is_connected) {
        succeed(attempts_.back());
    } else {
        attempts_.back().stream.watch(*this, attempts_.back().stream.fd());
    }
    return true;
}

void Dial::begin_next() {
    while (next_ < endpoints_.size()) {
        if (begin(endpoints_[next_++])) return;
    }
    if (attempts_.empty()) finish({.error = error_});
}

void Dial::on_ready(uint32_t events, int which) {
    auto attempt =
        std::ranges::find_if(attempts_, [&](const Attempt& each) { return each.stream.fd() == which; });
    if (is_finished_ || attempt == attempts_.end()) return;
    if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) == 0) return;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(which, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0) return succeed(*attempt);
    error_ = error;
    attempts_.erase(attempt);
    begin_next();
}

void Dial::tick() {
    timer_ = 0;
    base::EventLoop::Clock::time_point now = base::EventLoop::Clock::now();
    size_t before = attempts_.size();
    std::erase_if(attempts_, [&](const Attempt& attempt) { return now - attempt.began >= kEach; });
    if (attempts_.size() < before) error_ = ETIMEDOUT;
    if (now - began_ >= kAll) return finish({.error = ETIMEDOUT});
    begin_next();
    if (!is_finished_) timer_ = loop_.after(kNextBeside, [this] { tick(); });
}

void Dial::succeed(Attempt& attempt) {
    finish({.stream = std::move(attempt.stream), .endpoint = attempt.endpoint});
}

void Dial::finish(Result result) {
    if (std::exchange(is_finished_, true)) return;
    loop_.cancel(timer_);
    attempts_.clear();
    Done done = std::move(done_);
    done(std::move(result));
}

UpstreamTunnel::UpstreamTunnel(base::EventLoop& loop, Stream proxy, const UpstreamProxy& upstream,
                               const std::string& authority, Done done)
    : loop_(loop),
      proxy_(std::move(proxy)),
      unsent_("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n"),
      done_(std::move(done)) {
    if (!upstream.authorization.empty()) unsent_ += "Proxy-Authorization: " + upstream.authorization + "\r\n";
    unsent_ += "\r\n";
}

UpstreamTunnel::~UpstreamTunnel() {
    loop_.cancel(timer_);
}

void UpstreamTunnel::start() {
    proxy_.watch(*this);
    timer_ =
        loop_.after(kPatience, [this] { finish({.reason = "the site's proxy did not answer in time"}); });
    send();
    if (!is_finished_) receive();
}

void UpstreamTunnel::on_ready(uint32_t events, int) {
    if (is_finished_) return;
    if (!unsent_.empty() && events & EPOLLOUT) send();
    if (!is_finished_) receive();
}

void UpstreamTunnel::send() {
    ssize_t sent = ::send(proxy_.fd(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent > 0) unsent_.erase(0, static_cast<size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        finish({.reason = "the site's proxy closed the connection"});
}

void UpstreamTunnel::receive() {
    char bytes[4096];
    for (;;) {
        ssize_t count = ::recv(proxy_.fd(), bytes, sizeof bytes, 0);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (count <= 0) return finish({.reason = "the site's proxy closed the connection"});
        received_.append(bytes, static_cast<size_t>(count));
        switch (reader_.look(received_)) {
            case wire::HttpResponseReader::State::need_more:
                continue;
            case wire::HttpResponseReader::State::refused:
                return finish(
                    {.reason = "the site's proxy answers no HTTP: " + std::string(reader_.fault())});
            case wire::HttpResponseReader::State::complete:
                break;
        }
        int status = reader_.status();
        if (status < 200 || status >= 300) {
            return finish(
                {.status = status, .reason = "the site's proxy answered " + std::to_string(status)});
        }
        return finish(
            {.stream = std::move(proxy_), .early = received_.substr(reader_.head_size()), .status = status});
    }
}

void UpstreamTunnel::finish(Result result) {
    if (std::exchange(is_finished_, true)) return;
    loop_.cancel(timer_);
    proxy_.close();
    Done done = std::move(done_);
    done(std::move(result));
}

}  // namespace network::gateway
