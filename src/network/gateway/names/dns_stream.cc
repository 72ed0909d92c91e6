// SPDX-License-Identifier: MIT
#include "network/gateway/names/dns_stream.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "network/wire/dns/dns.h"

namespace network::gateway {

DnsStream::DnsStream(base::EventLoop& loop, NameServer& name_server, Stream client, Done done)
    : loop_(loop),
      name_server_(name_server),
      client_(std::move(client)),
      done_(std::move(done)),
      last_heard_(base::EventLoop::Clock::now()) {
    client_.watch(*this);
}

DnsStream::~DnsStream() = default;

void DnsStream::on_ready(uint32_t events, int) {
    if (is_finished_) return;
    if (events & EPOLLERR) return finish();
    if (!unsent_.empty() && events & EPOLLOUT) send();
    if (!is_finished_) read();
}

void DnsStream::read() {
    char bytes[4096];
    while (!is_finished_ && !has_ended_ && outstanding_ < kMostOutstanding && unsent_.size() < kMostUnsent) {
        ssize_t count = ::recv(client_.fd(), bytes, sizeof bytes, 0);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) break;
        if (count < 0) return finish();
        has_ended_ = count == 0;
        last_heard_ = base::EventLoop::Clock::now();
        received_.append(bytes, static_cast<size_t>(count));
        serve();
    }
    if (!is_finished_ && has_ended_ && outstanding_ == 0 && unsent_.empty()) finish();
}

void DnsStream::serve() {
    std::string_view rest = received_;
    while (!is_finished_ && outstanding_ < kMostOutstanding) {
        wire::DnsFrame frame = wire::take_dns_frame(rest);
        if (frame.state == wire::DnsFrame::State::refused) return finish();
        if (frame.state == wire::DnsFrame::State::need_more) break;
        ++outstanding_;
        // The answer may arrive within this call. The message points into received_, which is cut only after
        // the loop.
        name_server_.serve(frame.message, [this, alive = std::weak_ptr(token_)](const std::string& reply) {
            if (!alive.expired()) answer(reply);
        });
    }
    received_.erase(0, received_.size() - rest.size());
}

void DnsStream::answer(const std::string& reply) {
    --outstanding_;
    if (is_finished_) return;
    bool was_full = outstanding_ + 1 == kMostOutstanding;
    if (!reply.empty()) unsent_ += wire::dns_frame(reply);
    send();
    // Unread bytes may be left for which epoll sends no event. Read them later: a caller may still use a
    // frame.
    bool may_go_on = was_full || has_ended_;
    if (!may_go_on || is_finished_) return;
    loop_.later([this, alive = std::weak_ptr(token_)] {
        if (alive.expired() || is_finished_) return;
        serve();
        read();
    });
}

void DnsStream::send() {
    if (unsent_.empty()) return;
    ssize_t sent = ::send(client_.fd(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent > 0) unsent_.erase(0, static_cast<size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) finish();
}

void DnsStream::sweep(base::EventLoop::Clock::time_point now) {
    if (!is_finished_ && now - last_heard_ >= kIdle) finish();
}

void DnsStream::finish() {
    if (std::exchange(is_finished_, true)) return;
    client_.close();
    loop_.later([this, alive = std::weak_ptr(token_)] {
        if (alive.expired()) return;
        Done done = std::move(done_);
        done();
    });
}

}  // namespace network::gateway
