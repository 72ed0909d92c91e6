// SPDX-License-Identifier: MIT
// Theory of operation. Output is read from the socket only while most of the earlier output is written, so a
// slow reader slows the command down. Standard input is read only up to the room that the chaperon gave: if
// the command needs no input, other processes that share it can read it.
#include "slurm/client/session.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>

#include "slurm/options/denial.h"

namespace slurm::client {
namespace {

using channel::Frame;
using channel::Type;

constexpr int kPassed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

}  // namespace

Session::Session(std::string name, const std::vector<std::string>& arguments, base::Fd socket,
                 bool passes_signals, Redirection redirection)
    : name_(std::move(name)),
      arguments_(arguments),
      socket_(std::move(socket)),
      passes_signals_(passes_signals),
      redirection_(std::move(redirection)),
      output_(redirection_.output ? redirection_.output->get() : STDOUT_FILENO),
      errors_(STDERR_FILENO),
      file_errors_(redirection_.errors ? redirection_.errors->get() : STDERR_FILENO) {}

std::optional<channel::Exit> Session::run(std::string request) {
    outgoing_ = std::move(request);
    // Handle a closed pipe as an error of write(2), so that the terminal is restored first.
    ::signal(SIGPIPE, SIG_IGN);
    if (passes_signals_) watch_signals();
    base::EventLoop loop;
    register_sources(loop);
    while (!exit_ && !is_closed_) loop.turn();
    command_.end();
    // A command without output also truncates its files.
    if (exit_ && !is_denied_) begin();
    drain();
    terminal_.restore();
    if (!exit_ && is_denied_) exit_ = channel::Exit{.number = 1};
    return exit_;
}

// In the order in which ready ones are served.
void Session::register_sources(base::EventLoop& loop) {
    loop.add({[this] { return signals_.get(); }, [this] { read_signals(); }});
    for (Outlet* outlet : {&output_, &errors_, &file_errors_}) {
        loop.add(base::Stream{[outlet] { return outlet->awaited(); },
                              [this, outlet](short) {
                                  if (!outlet->write_some()) lose_reader(*outlet);
                              }});
    }
    auto input = [this] {
        const bool is_read = room_ > 0 && !is_input_over_ && outgoing_.size() < channel::kWindow;
        if (!is_read) return -1;
        return redirection_.input ? redirection_.input->get() : STDIN_FILENO;
    };
    loop.add({input, [this] { read_input(); }});
    loop.add(base::Stream{[this] { return awaited(); }, [this](short events) { attend(events); }});
}

struct pollfd Session::awaited() const {
    int wanted = (is_full() ? 0 : POLLIN) | (outgoing_.empty() ? 0 : POLLOUT);
    return {socket_.get(), static_cast<short>(wanted), 0};
}

void Session::attend(short events) {
    if (events & POLLOUT) write_frames();
    if (!is_full()) {
        if (events & (POLLIN | POLLHUP | POLLERR)) read_frames();
    } else if (events & (POLLHUP | POLLERR)) {
        // poll reports a hang-up even without POLLIN. The frames before it are read later.
        drain();
    }
}

void Session::watch_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (int number : kPassed) ::sigaddset(&set, number);
    for (int number : {SIGWINCH, SIGCHLD, SIGCONT}) ::sigaddset(&set, number);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    signals_ = base::Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

void Session::write_frames() {
    ssize_t count = ::send(socket_.get(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0)
        outgoing_.erase(0, static_cast<size_t>(count));
    else if (errno != EINTR && errno != EAGAIN)
        outgoing_.clear();  // the chaperon reads no more, but its last frames must still be read
}

void Session::read_frames() {
    char bytes[channel::kMaximumPayload];
    ssize_t count = ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    std::vector<Frame> frames;
    if (count <= 0 || !decoder_.feed({bytes, static_cast<size_t>(count)}, frames)) is_closed_ = true;
    for (Frame& frame : frames) take(frame);
}

void Session::take(Frame& frame) {
    switch (frame.type) {
        case Type::output:
            begin();
            return output_.add(frame.payload);
        case Type::error:
            return take_errors(frame.payload);
        case Type::room:
            begin();
            room_ += channel::parse_number(frame.payload).value_or(0);
            return;
        case Type::raw:
            begin();
            return terminal_.make_raw();
        case Type::denied:
            if (auto denied = channel::parse_denied(frame.payload)) {
                is_denied_ = true;
                errors_.add(text_of({denied->code, denied->what, denied->advice}, name_) + "\n");
            }
            return;
        case Type::piece:
            piece_ += frame.payload;
            return;
        case Type::variable:
            variables_.push_back(piece_ + frame.payload);
            piece_.clear();
            return;
        case Type::run:
            if (command_.is_running()) return;
            // Our own output must not appear in the middle of the command's output.
            drain();
            command_ = UserCommand::start(arguments_, variables_);
            return look_after_command();
        case Type::exit:
            exit_ = channel::parse_exit(frame.payload);
            is_closed_ = !exit_;
            return;
        case Type::hello:
        case Type::argument:
        case Type::directory:
        case Type::script:
        case Type::script_end:
        case Type::terminal:
        case Type::ready:
        case Type::input:
        case Type::input_end:
        case Type::signal:
        case Type::window:
        case Type::ended:
            is_closed_ = true;
            return;
    }
}

void Session::take_errors(std::string_view bytes) {
    if (!redirection_.errors) return errors_.add(bytes);
    std::string of_tasks, of_srun;
    splitter_.add(bytes, of_tasks, of_srun);
    if (!of_tasks.empty()) begin();
    file_errors_.add(of_tasks);
    errors_.add(of_srun);
}

void Session::begin() {
    if (has_begun_) return;
    has_begun_ = true;
    empty_files(redirection_);
}

void Session::read_input() {
    char bytes[channel::kMaximumPayload];
    const int fd = redirection_.input ? redirection_.input->get() : STDIN_FILENO;
    ssize_t count = ::read(fd, bytes, std::min(sizeof bytes, room_));
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count <= 0) {
        is_input_over_ = true;
        outgoing_ += channel::frame(Type::input_end);
        return;
    }
    room_ -= static_cast<size_t>(count);
    outgoing_ += channel::frame(Type::input, {bytes, static_cast<size_t>(count)});
}

void Session::read_signals() {
    struct signalfd_siginfo event;
    while (::read(signals_.get(), &event, sizeof event) == static_cast<ssize_t>(sizeof event))
        take_signal(static_cast<int>(event.ssi_signo));
}

void Session::take_signal(int number) {
    switch (number) {
        case SIGCHLD:
            return look_after_command();
        case SIGCONT:
            terminal_.make_raw_again();
            command_.resume();
            [[fallthrough]];
        case SIGWINCH:
            if (auto size = Terminal::window()) outgoing_ += channel::window(Type::window, *size);
            return;
        default:
            if (command_.is_running()) return command_.signal(number);
            outgoing_ += channel::number(Type::signal, static_cast<uint32_t>(number));
    }
}

void Session::look_after_command() {
    if (auto status = command_.look())
        outgoing_ += channel::number(Type::ended, static_cast<uint32_t>(*status));
}

void Session::drain() {
    if (exit_) {
        std::string rest;
        splitter_.finish(rest);
        file_errors_.add(rest);
    }
    for (Outlet* outlet : {&output_, &errors_, &file_errors_}) {
        if (!outlet->write_rest()) lose_reader(*outlet);
    }
}

void Session::lose_reader(Outlet& outlet) {
    // srun's tasks and salloc's command continue without a reader. The other commands end with SIGPIPE, as a
    // program does that writes to a closed pipe.
    if (passes_signals_) return outlet.go_deaf();
    ::_exit(end_like({.number = SIGPIPE, .is_signal = true}));
}

int end_like(channel::Exit exit) {
    if (!exit.is_signal) return exit.number;
    // The command has already written its own core dump, if any.
    struct rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::signal(exit.number, SIG_DFL);
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, exit.number);
    ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
    ::raise(exit.number);
    return 128 + exit.number;
}

}  // namespace slurm::client
