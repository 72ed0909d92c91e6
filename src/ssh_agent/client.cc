// SPDX-License-Identifier: MIT
#include "ssh_agent/client.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "ssh_agent/message.h"

namespace ssh_agent {
namespace {

constexpr size_t kPiece = 65536;
constexpr size_t kLengthSize = 4;

// False: the other end is closed, or its connection has failed.
bool receive(int socket, std::string& input) {
    char bytes[kPiece];
    ssize_t got = ::recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got > 0) input.append(bytes, static_cast<size_t>(got));
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

bool send(int socket, std::string& output) {
    ssize_t sent = ::send(socket, output.data(), output.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) output.erase(0, static_cast<size_t>(sent));
    return sent > 0 || errno == EAGAIN || errno == EINTR;
}

enum class Framing { incomplete, complete, invalid };

// Takes the first message out of the input.
Framing take_message(std::string& input, std::string& message) {
    if (input.size() < kLengthSize) return Framing::incomplete;
    const size_t size = network::wire::Cursor(input).u32();
    if (size == 0 || size > kLongestMessage) return Framing::invalid;
    if (input.size() - kLengthSize < size) return Framing::incomplete;
    message = input.substr(kLengthSize, size);
    input.erase(0, kLengthSize + size);
    return Framing::complete;
}

}  // namespace

Client::Client(uint64_t id, base::Fd socket, const Rules& rules, const Host& host)
    : id_(id), filter_(rules), host_(host) {
    client_.socket = std::move(socket);
    client_.source = host_.loop.add(base::Stream{
        .awaited =
            [this] {
                // While a message is served nothing more is read: a client can't fill our memory.
                const bool reads = !open_ && client_.output.empty();
                const int events = (reads ? POLLIN : 0) | (client_.output.empty() ? 0 : POLLOUT);
                return pollfd{is_closed_ ? -1 : client_.socket.get(), static_cast<short>(events), 0};
            },
        .serve = [this](short events) { serve_client(events); }});
}

Client::~Client() {
    host_.loop.remove(client_.source);
    if (agent_.source != 0) host_.loop.remove(agent_.source);
}

void Client::close() {
    if (std::exchange(is_closed_, true)) return;
    host_.close(*this);
}

void Client::serve_client(short events) {
    if (is_closed_) return;
    if ((events & POLLOUT) != 0 && !send(client_.socket.get(), client_.output)) return close();
    if (is_ending_) return client_.output.empty() ? close() : void();
    const bool may_read = !open_ && client_.output.empty();
    if (may_read && (events & (POLLIN | POLLHUP)) != 0 && !receive(client_.socket.get(), client_.input))
        return close();
    // A client that has gone gets no signature.
    if (!may_read && (events & (POLLHUP | POLLERR)) != 0) return close();
    serve_messages();
}

void Client::serve_messages() {
    std::string message;
    while (!open_ && !is_ending_ && !is_closed_ && client_.output.empty()) {
        switch (take_message(client_.input, message)) {
            case Framing::incomplete:
                return;
            case Framing::invalid:
                return close();
            case Framing::complete:
                decide(filter_.judge(message));
        }
    }
}

void Client::decide(Decision decision) {
    switch (decision.action) {
        case Decision::Action::close:
            is_ending_ = true;
            [[fallthrough]];
        case Decision::Action::answer:
            host_.report(decision, false);
            return answer(decision.message);
        case Decision::Action::forward:
            open_ = std::move(decision);
            return forward();
        case Decision::Action::ask: {
            open_ = std::move(decision);
            std::optional<bool> is_allowed = host_.ask(*this, open_->use);
            if (!is_allowed) return;
            if (*is_allowed) return forward();
            open_.reset();
            return answer(failure());
        }
    }
}

void Client::answer_question(bool is_allowed) {
    if (!open_ || is_closed_) return;
    if (is_allowed) return forward();
    open_.reset();
    answer(failure());
    serve_messages();
}

void Client::forward() {
    if (!agent_.socket) {
        waits_for_agent_ = true;
        return host_.request_agent(*this);
    }
    agent_.output = framed(open_->message);
}

void Client::take_agent(base::Fd agent) {
    if (!std::exchange(waits_for_agent_, false) || is_closed_ || !open_) return;
    if (!agent) return lose_agent();
    agent_.socket = std::move(agent);
    agent_.source = host_.loop.add(base::Stream{
        .awaited =
            [this] {
                const int events = agent_.output.empty() ? POLLIN : POLLIN | POLLOUT;
                return pollfd{is_closed_ ? -1 : agent_.socket.get(), static_cast<short>(events), 0};
            },
        .serve = [this](short events) { serve_agent(events); }});
    forward();
}

void Client::serve_agent(short events) {
    if (is_closed_ || !agent_.socket) return;
    if ((events & POLLOUT) != 0 && !agent_.output.empty() && !send(agent_.socket.get(), agent_.output))
        return lose_agent();
    if ((events & (POLLIN | POLLHUP | POLLERR)) == 0) return;
    if (!receive(agent_.socket.get(), agent_.input)) return lose_agent();
    std::string message;
    switch (take_message(agent_.input, message)) {
        case Framing::incomplete:
            return;
        case Framing::invalid:
            return lose_agent();
        case Framing::complete:
            break;
    }
    // An answer that was not asked for would be taken for the next one.
    if (!open_ || !agent_.output.empty() || !agent_.input.empty()) return lose_agent();
    Decision done = *std::exchange(open_, std::nullopt);
    std::string reply = filter_.answer(done.expected, message);
    if (done.expected == Expected::signature) {
        const bool is_signed = !is_of(reply, Kind::failure);
        if (!is_signed) done.reason = "the user's agent refused the signature";
        host_.report(done, is_signed);
    }
    answer(reply);
    serve_messages();
}

void Client::lose_agent() {
    if (agent_.source != 0) host_.loop.remove(std::exchange(agent_.source, 0));
    agent_ = {};
    std::optional<Decision> lost = std::exchange(open_, std::nullopt);
    if (!lost) return close();
    answer(filter_.answer(lost->expected, std::nullopt));
    serve_messages();
}

void Client::answer(std::string_view message) {
    client_.output += framed(message);
    if (!send(client_.socket.get(), client_.output)) return close();
    if (is_ending_ && client_.output.empty()) close();
}

}  // namespace ssh_agent
