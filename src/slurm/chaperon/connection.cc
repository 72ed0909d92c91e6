// SPDX-License-Identifier: MIT
#include "slurm/chaperon/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <iterator>

#include "base/process/descriptors.h"

namespace slurm::chaperon {
namespace {

using channel::Frame;
using channel::Type;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWithoutEnd{-1};
constexpr size_t kMostSignals = 64;
// The signals that a stub may pass on. Stop signals affect only the stub itself.
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

}  // namespace

Connection::Arrived Connection::receive_request(const Limits& limits) {
    channel::Assembler assembler;
    const auto begin = Clock::now();
    auto until = begin + limits.request;
    std::vector<Frame> frames;
    for (;;) {
        if (base::await_events(socket_.get(), POLLIN, until) == 0)
            return Refused{std::string(channel::kBadProtocol), "the request did not arrive in time"};
        frames.clear();
        switch (receive(frames)) {
            case Received::nothing:
                continue;
            case Received::closed:
                socket_.reset();
                return std::monostate{};
            case Received::malformed:
                return Refused{std::string(channel::kBadProtocol),
                               "the bytes are not a frame of this channel"};
            case Received::frames:
                break;
        }
        for (size_t next = 0; next < frames.size(); ++next) {
            switch (assembler.take(std::move(frames[next]))) {
                case channel::Assembler::Progress::more:
                    continue;
                case channel::Assembler::Progress::failed:
                    return Refused{std::string(assembler.code()), assembler.what()};
                case channel::Assembler::Progress::complete:
                    break;
            }
            // A signal may directly follow the request.
            for (size_t rest = next + 1; rest < frames.size(); ++rest) {
                if (!take(frames[rest]))
                    return Refused{std::string(channel::kBadProtocol), "a frame is out of place"};
            }
            return std::move(assembler.request());
        }
        if (assembler.is_in_script()) until = std::min(begin + limits.script, Clock::now() + limits.request);
    }
}

Connection::Received Connection::receive(std::vector<Frame>& frames) {
    char bytes[channel::kMaximumPayload];
    ssize_t count = ::recv(socket_.get(), bytes, sizeof bytes, 0);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return Received::nothing;
    if (count <= 0) return Received::closed;
    bool is_whole = decoder_.feed({bytes, static_cast<size_t>(count)}, frames);
    return is_whole ? Received::frames : Received::malformed;
}

void Connection::flush() {
    while (!is_gone() && has_outgoing()) {
        struct pollfd entry = awaited();
        short ready = base::await_events(entry.fd, entry.events, kWithoutEnd);
        if (ready == 0) return;
        attend(ready);
    }
}

void Connection::hang_up(std::string_view last_words) {
    outgoing_ = last_words;
    const auto until = Clock::now() + std::chrono::seconds(1);
    while (!is_gone() && has_outgoing() && base::await_events(socket_.get(), POLLOUT, until) != 0)
        write_some();
    socket_.reset();
}

struct pollfd Connection::awaited() const {
    return {socket_.get(), static_cast<short>(has_outgoing() ? POLLIN | POLLOUT : POLLIN), 0};
}

void Connection::attend(short events) {
    if (is_gone()) return;
    if (events & (POLLIN | POLLHUP | POLLERR)) read_frames();
    if (!is_gone() && (events & POLLOUT)) write_some();
    if (is_gone()) outgoing_.clear();
}

void Connection::give_room(size_t bytes) {
    if (bytes == 0) return;
    room_ += bytes;
    send(channel::number(Type::room, static_cast<uint32_t>(bytes)));
}

void Connection::read_frames() {
    std::vector<Frame> frames;
    const Received received = receive(frames);
    if (received == Received::closed || received == Received::malformed) return socket_.reset();
    for (Frame& frame : frames) {
        if (!take(frame)) return socket_.reset();
    }
}

// False: this frame is not allowed here.
bool Connection::take(Frame& frame) {
    switch (frame.type) {
        case Type::input:
            if (frame.payload.size() > room_ || is_input_over) return false;
            room_ -= frame.payload.size();
            input += frame.payload;
            return true;
        case Type::input_end:
            is_input_over = true;
            return true;
        case Type::signal: {
            auto value = channel::parse_number(frame.payload);
            auto found = value ? std::ranges::find(kSignals, static_cast<int>(*value)) : std::end(kSignals);
            if (found == std::end(kSignals)) return false;
            if (signals.size() < kMostSignals) signals.push_back(*found);
            return true;
        }
        case Type::window:
            window = channel::parse_window(frame.payload);
            return window.has_value();
        case Type::ended: {
            auto value = channel::parse_number(frame.payload);
            if (!value || *value > 0xff) return false;
            ended = static_cast<int>(*value);
            return true;
        }
        case Type::hello:
        case Type::piece:
        case Type::argument:
        case Type::variable:
        case Type::directory:
        case Type::script:
        case Type::script_end:
        case Type::terminal:
        case Type::ready:
        case Type::output:
        case Type::error:
        case Type::room:
        case Type::raw:
        case Type::denied:
        case Type::run:
        case Type::exit:
            break;
    }
    return false;
}

void Connection::write_some() {
    ssize_t count = ::send(socket_.get(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL);
    if (count >= 0) {
        outgoing_.erase(0, static_cast<size_t>(count));
    } else if (errno != EINTR && errno != EAGAIN) {
        // The stub's last bytes may be unread, but it reads no more.
        socket_.reset();
    }
}

}  // namespace slurm::chaperon
