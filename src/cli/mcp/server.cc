// SPDX-License-Identifier: MIT
#include "cli/mcp/server.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/process/descriptors.h"
#include "cli/version.h"

namespace cli {
namespace {

constexpr size_t kReadAtOnce = 64u << 10;
constexpr size_t kMostUnread = 1u << 20;           // then no message is read
constexpr size_t kMostBeforeProgress = 64u << 10;  // then no progress is sent
constexpr std::chrono::seconds kBetweenProgress{1};
// For the answers that wait when the client has closed its end, while it reads none of them.
constexpr std::chrono::seconds kLongestFlush{2};

}  // namespace

McpServer::McpServer(base::EventLoop& loop, McpSession session, mcp::Offer offer, Ends ends)
    : loop_(loop),
      session_(std::move(session)),
      ends_(ends),
      protocol_(std::string(version()), offer,
                {.send = [this](std::string_view line) { send(line); },
                 .start = [this](auto number, mcp::ToolCall call) { start(number, std::move(call)); },
                 .cancel = [this](auto number) { cancel(number); }}) {}

bool McpServer::may_read() const {
    return !protocol_.is_full() && output_.size() - written_ < kMostUnread;
}

// Standard input and output belong to the client, which may share them with others, so they stay blocking:
// poll(2) tells when a read returns at once and when a pipe takes PIPE_BUF bytes.
void McpServer::serve() {
    loop_.add(base::Stream{[this] {
                               return pollfd{STDIN_FILENO, static_cast<short>(may_read() ? POLLIN : 0), 0};
                           },
                           [this](short events) { read_input(events); }});
    loop_.add(base::Stream{[this] {
                               bool has_some = written_ < output_.size();
                               return pollfd{STDOUT_FILENO, static_cast<short>(has_some ? POLLOUT : 0), 0};
                           },
                           [this](short events) { write_output(events); }});
    loop_.add(base::Source{[this] { return ends_.session; },
                           [this] {
                               has_lost_session_ = true;
                               is_over_ = true;
                           }});
    while (!is_over_) loop_.turn();
    running_.clear();
    flush();
}

void McpServer::read_input(short events) {
    if (!(events & POLLIN)) {
        // Hung up while nothing is read from it: the client has gone.
        is_over_ = true;
        return;
    }
    std::array<char, kReadAtOnce> bytes;
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
        is_over_ = true;
        return;
    }
    framing_.add({bytes.data(), static_cast<size_t>(got)},
                 [this](const mcp::Framing::Line& line) { protocol_.take(line); });
}

void McpServer::send(std::string_view line) {
    output_.erase(0, std::exchange(written_, 0));
    output_ += line;
}

void McpServer::write_output(short events) {
    while (events & POLLOUT) {
        const size_t length = std::min<size_t>(PIPE_BUF, output_.size() - written_);
        const ssize_t put = ::write(STDOUT_FILENO, output_.data() + written_, length);
        if (put < 0 && (errno == EINTR || errno == EAGAIN)) return;
        if (put < 0) break;
        written_ += static_cast<size_t>(put);
        if (written_ == output_.size()) {
            output_ = {};
            written_ = 0;
            return;
        }
        events = base::ready_events(STDOUT_FILENO, POLLOUT);
        if (events == 0) return;
    }
    has_lost_client_ = true;
    is_over_ = true;
}

void McpServer::flush() {
    while (!has_lost_client_ && written_ < output_.size()) {
        const short events = base::await_events(STDOUT_FILENO, POLLOUT, kLongestFlush);
        if (events == 0) return;
        write_output(events);
    }
}

void McpServer::start(mcp::Protocol::CallNumber number, mcp::ToolCall call) {
    Running& running = running_[number];
    running.work = start_work(session_, std::move(call), [this, number] { take_result(number); });
    wait_a_second(number);
}

void McpServer::wait_a_second(mcp::Protocol::CallNumber number) {
    running_[number].timer = loop_.after(kBetweenProgress, [this, number] {
        Running& running = running_[number];
        ++running.seconds;
        if (output_.size() - written_ < kMostBeforeProgress)
            protocol_.report_progress(number, running.seconds, running.work->bytes());
        wait_a_second(number);
    });
}

void McpServer::cancel(mcp::Protocol::CallNumber number) {
    auto found = running_.find(number);
    if (found == running_.end()) return;
    loop_.cancel(found->second.timer);
    running_.erase(found);
}

// It may have been cancelled in the same turn.
void McpServer::take_result(mcp::Protocol::CallNumber number) {
    auto found = running_.find(number);
    if (found == running_.end()) return;
    mcp::CallResult result = found->second.work->result();
    cancel(number);
    protocol_.finish(number, result);
}

}  // namespace cli
