// SPDX-License-Identifier: MIT
#include "network/gateway/connections/upstream.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace network::gateway {

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
