// SPDX-License-Identifier: MIT
// Theory of operation. Output is read only while the connection has few bytes waiting. So a slow reader in
// the jail slows the command down as a pipe would, and no output accumulates here. When the command has
// ended, all of its output is already in the pipes. They are read until they are empty, not until they are
// closed, because a process that it left behind may keep them open for ever. A terminal delivers its bytes
// with a delay, so there the end of file is awaited for a moment.
#include "slurm/chaperon/exchange.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <utility>

namespace slurm::chaperon {
namespace {

constexpr std::chrono::milliseconds kLastBytes{1000};
constexpr char kEndOfFile = 4;  // Ctrl-D

}  // namespace

base::Status Exchange::start(Launch launch, bool has_input, std::optional<channel::Window> terminal) {
    Pipe input, output, errors;
    PseudoTerminal pseudo;
    if (terminal) {
        auto made = make_terminal(*terminal);
        if (!made) return made.error();
        pseudo = std::move(*made);
        launch.input = launch.output = launch.errors = pseudo.slave.get();
        launch.has_terminal = has_terminal_ = true;
    } else {
        for (auto [pipe, ours_is_read] : {std::pair(&output, true), {&errors, true}, {&input, false}}) {
            if (pipe == &input && !has_input) continue;
            auto made = make_pipe(ours_is_read);
            if (!made) return made.error();
            *pipe = std::move(*made);
        }
        launch.input = input.read.get();
        launch.output = output.write.get();
        launch.errors = errors.write.get();
    }
    dismissal_ = launch.death_signal == SIGKILL ? SIGTERM : launch.death_signal;
    auto child = chaperon::start(launch);
    if (!child) return child.error();
    child_ = *child;
    if (terminal) {
        input_ = base::Fd(::fcntl(pseudo.master.get(), F_DUPFD_CLOEXEC, 3));
        output_ = std::move(pseudo.master);
    } else {
        input_ = std::move(input.write);
        output_ = std::move(output.read);
        errors_ = std::move(errors.read);
    }
    return base::success();
}

Ending Exchange::run() {
    for (;;) {
        if (connection_.is_gone() && !is_dismissed_) dismiss();
        finish_input();
        if (ending_ && is_drained()) return *ending_;

        const bool is_read = !connection_.is_congested();
        struct pollfd entries[] = {
            connection_.awaited(),
            {ending_ ? -1 : children_, POLLIN, 0},
            {source.empty() ? -1 : input_.get(), POLLOUT, 0},
            {is_read ? output_.get() : -1, POLLIN, 0},
            {is_read ? errors_.get() : -1, POLLIN, 0},
        };
        // After the command has ended, its bytes are available without waiting.
        int patience = ending_ && is_read && !has_terminal_ ? 0 : milliseconds_to_wait();
        if (::poll(entries, std::size(entries), patience) < 0 && errno != EINTR) dismiss();
        if (entries[0].revents) {
            connection_.attend(entries[0].revents);
            if (on_news) on_news();
        }
        if (entries[2].revents) write_input();
        // Check the end before reading: a pipe that is empty after the end stays empty.
        const bool had_ended = ending_.has_value();
        if (is_read && (entries[3].revents || (had_ended && !has_terminal_))) read_from(output_, on_output);
        if (is_read && (entries[4].revents || had_ended)) read_from(errors_, on_errors);
        if (entries[1].revents) reap();
        act_in_time();
    }
}

void Exchange::signal(int number) const {
    if (!ending_) ::kill(child_, number);
}

void Exchange::resize(channel::Window size) const {
    if (has_terminal_ && output_) resize_terminal(output_.get(), size);
}

void Exchange::dismiss() {
    if (is_dismissed_ || ending_) return;
    is_dismissed_ = true;
    signal(dismissal_);
    signal(SIGCONT);
    deadline_ = Clock::now() + grace_;
}

void Exchange::reap() {
    forget_child_signals(children_);
    int status = 0;
    if (ending_ || ::waitpid(child_, &status, WNOHANG) != child_) return;
    ending_ = ending_of(status);
    deadline_.reset();
    if (has_terminal_) deadline_ = Clock::now() + kLastBytes;
    input_.reset();
}

void Exchange::write_input() {
    ssize_t count = ::write(input_.get(), source.data(), source.size());
    if (count < 0) {
        // The command reads no more input.
        if (errno != EINTR && errno != EAGAIN) input_.reset();
        return;
    }
    source.erase(0, static_cast<size_t>(count));
    if (on_written) on_written(static_cast<size_t>(count));
}

void Exchange::finish_input() {
    if (!is_source_over || !source.empty() || !input_) return;
    // A terminal has no end of file: send the character that stands for it.
    if (has_terminal_) (void)!::write(input_.get(), &kEndOfFile, 1);
    input_.reset();
}

void Exchange::read_from(base::Fd& fd, const std::function<void(std::string_view)>& sink) {
    if (!fd) return;
    char bytes[channel::kMaximumPayload];
    ssize_t count = ::read(fd.get(), bytes, sizeof bytes);
    if (count > 0) return sink({bytes, static_cast<size_t>(count)});
    if (count < 0 && errno == EINTR) return;
    if (count < 0 && errno == EAGAIN && !(ending_ && !has_terminal_)) return;
    fd.reset();
}

int Exchange::milliseconds_to_wait() const {
    if (!deadline_) return -1;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - Clock::now());
    return static_cast<int>(std::max<long>(0, left.count()));
}

void Exchange::act_in_time() {
    if (!deadline_ || Clock::now() < *deadline_) return;
    if (ending_) {
        // A slow reader has not received the last bytes yet.
        if (connection_.is_congested())
            deadline_ = Clock::now() + kLastBytes;
        else
            output_.reset();
        return;
    }
    ::kill(-child_, SIGKILL);
    ::kill(child_, SIGKILL);
    deadline_ = Clock::now() + grace_;
}

}  // namespace slurm::chaperon
