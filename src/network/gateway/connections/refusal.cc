// SPDX-License-Identifier: MIT
#include "network/gateway/connections/refusal.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "network/wire/http/http_exchange.h"
#include "network/wire/protocol_guess.h"
#include "network/wire/refusals.h"

namespace network::gateway {
namespace {

using std::chrono::milliseconds;
using wire::Protocol;

constexpr milliseconds kReading{1000};  // for the client to read the refusal
constexpr milliseconds kMailTalk{10'000};
constexpr size_t kMostFirst = 512;
constexpr size_t kMostDrained = 1 << 20;

// Ports where the server sends first. 465 is not one of them: it begins with TLS.
constexpr uint16_t kMailPorts[] = {24, 25, 587, 2525};
constexpr uint16_t kShellPort = 22;

}  // namespace

std::string refusal_text(const Verdict& verdict, std::string_view target) {
    std::string text = base::format("agent-sandbox: {} is refused: {}", target, verdict.reason);
    if (!verdict.rule.empty())
        text += base::format(" (rule \"{}\", {})", verdict.rule, verdict.origin.describe());
    text += ". This is policy, not a fault: do not retry";
    text += verdict.advice.empty() ? "; tell your user." : base::format("; {}.", verdict.advice);
    return text;
}

std::string refusal_text(std::string_view reason, std::string_view target) {
    return base::format("agent-sandbox: {} is refused: {}. This is policy, not a fault: do not retry.",
                        target, reason);
}

Refusal::Refusal(base::EventLoop& loop, Stream client, RefusalWords words, uint16_t port, Done done)
    : loop_(loop), client_(std::move(client)), words_(std::move(words)), done_(std::move(done)) {
    client_.watch(*this);
    if (port == kShellPort) {
        say_last(wire::ssh_refusal(words_.text));
        return;
    }
    if (std::ranges::find(kMailPorts, port) != std::end(kMailPorts)) {
        smtp_.emplace(words_.text);
        timer_ = loop_.after(kMailTalk, [this] { reset(); });
        say(smtp_->greeting());
    } else {
        timer_ = loop_.after(words_.patience, [this] { reset(); });
    }
    listen();
}

Refusal::Refusal(base::EventLoop& loop, Stream client, const std::string& last_words, Done done)
    : loop_(loop), client_(std::move(client)), done_(std::move(done)) {
    if (last_words.empty() || !client_) {
        reset();
    } else {
        client_.watch(*this);
        say_last(last_words);
    }
}

Refusal::~Refusal() {
    loop_.cancel(timer_);
}

void Refusal::on_ready(uint32_t events, int) {
    if (is_finished_) return;
    if (events & EPOLLERR) return finish();
    if (!unsent_.empty() && events & EPOLLOUT) say({});
    if (!is_finished_) listen();
}

void Refusal::listen() {
    char bytes[4096];
    while (!is_finished_) {
        ssize_t count = ::recv(client_.fd(), bytes, sizeof bytes, 0);
        if (count > 0) {
            hear({bytes, static_cast<size_t>(count)});
        } else if (count == 0) {
            // The client has closed its side, after the refusal or before it.
            if (!is_last_said_) return reset();
            if (unsent_.empty()) finish();
            return;
        } else {
            if (errno != EAGAIN && errno != EINTR) finish();
            return;
        }
    }
}

void Refusal::hear(std::string_view bytes) {
    if (is_last_said_) {
        drained_ += bytes.size();
        if (drained_ > kMostDrained) finish();
        return;
    }
    if (!smtp_) return hear_first(bytes);
    std::string reply;
    bool is_end = smtp_->take(bytes, reply) == wire::SmtpRefusal::State::close;
    is_end ? say_last(reply) : say(reply);
}

void Refusal::hear_first(std::string_view bytes) {
    first_ += bytes.substr(0, kMostFirst - std::min(first_.size(), kMostFirst));
    Protocol protocol = wire::ProtocolGuess(true).take(first_);
    // Treat a line that is undecided after kMostFirst bytes as an HTTP request line.
    bool is_long_line = protocol == Protocol::undecided && first_.size() == kMostFirst;
    switch (is_long_line ? Protocol::http1 : protocol) {
        case Protocol::undecided:
            return;
        case Protocol::tls:
        case Protocol::ssl2:
            return say_last(wire::tls_alert(words_.alert));
        case Protocol::http1:
        case Protocol::http2:
            return say_last(wire::http_refusal({.status = words_.http_status,
                                                .rule = words_.rule,
                                                .reason = words_.text,
                                                .answers_head = first_.starts_with("HEAD ")}));
        case Protocol::ssh:
            return say_last(wire::ssh_refusal(words_.text));
        case Protocol::proxy_header:
        case Protocol::postgres:
        case Protocol::git:
        case Protocol::other:
            break;
    }
    reset();
}

void Refusal::say(std::string_view bytes) {
    unsent_ += bytes;
    ssize_t sent = ::send(client_.fd(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return finish();
    if (sent > 0) unsent_.erase(0, static_cast<size_t>(sent));
    if (is_last_said_ && unsent_.empty() && !std::exchange(has_ended_writing_, true)) {
        ::shutdown(client_.fd(), SHUT_WR);
    }
}

void Refusal::say_last(std::string_view bytes) {
    is_last_said_ = true;
    loop_.cancel(timer_);
    timer_ = loop_.after(kReading, [this] { finish(); });
    say(bytes);
    if (!is_finished_) listen();
}

void Refusal::reset() {
    client_.reset();
    finish();
}

void Refusal::finish() {
    if (std::exchange(is_finished_, true)) return;
    loop_.cancel(timer_);
    client_.close();
    token_ = std::make_shared<char>();
    loop_.later([this, alive = std::weak_ptr(token_)] {
        if (alive.expired()) return;
        Done done = std::move(done_);
        done();
    });
}

}  // namespace network::gateway
