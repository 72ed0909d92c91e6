// SPDX-License-Identifier: MIT
#include "cli/mcp/jail_command.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/text.h"

namespace cli {
namespace {

constexpr size_t kPipeChunk = 64u << 10;
constexpr size_t kMostOfKeeper = 16u << 10;
// From SIGTERM to SIGKILL.
constexpr std::chrono::seconds kUntilKilled{2};

struct Pipe {
    base::Fd read, write;
};

base::Result<Pipe> open_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe for a command", errno);
    return Pipe{base::Fd(ends[0]), base::Fd(ends[1])};
}

// Of one end only: the command's end blocks, as programs expect.
void make_nonblocking(const base::Fd& end) {
    ::fcntl(end.get(), F_SETFL, O_NONBLOCK);
}

}  // namespace

JailCommand::JailCommand(base::EventLoop& loop, const session::Known& known, Want want,
                         std::function<void()> done)
    : loop_(loop),
      known_(known),
      want_(std::move(want)),
      done_(std::move(done)),
      input_(std::move(want_.input)),
      is_input_over_(!want_.has_more_input),
      out_(want_.most_output),
      err_(want_.most_output) {
    if (base::Status started = start(); !started) {
        failure_ = started.error();
        end();
        return;
    }
    watch();
}

JailCommand::~JailCommand() {
    for (base::EventLoop::SourceId source : sources_) loop_.remove(source);
    if (timer_ != 0) loop_.cancel(timer_);
}

base::Status JailCommand::start() {
    std::array<base::Fd, 3> standard;
    if (input_.empty() && is_input_over_) {
        standard[0] = base::Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        if (!standard[0]) return base::system_error("open /dev/null", errno);
    } else {
        base::Result<Pipe> pipe = open_pipe();
        if (!pipe) return pipe.error();
        make_nonblocking(pipe->write);
        standard[0] = std::move(pipe->read);
        stdin_ = std::move(pipe->write);
    }
    size_t number = 1;
    for (Capture* capture : {&out_, &err_}) {
        base::Result<Pipe> pipe = open_pipe();
        if (!pipe) return pipe.error();
        make_nonblocking(pipe->read);
        capture->pipe = std::move(pipe->read);
        standard[number++] = std::move(pipe->write);
    }
    const session::AddedCall call{.command = want_.command, .directory = want_.directory};
    base::Result<session::AddedProcess> process =
        session::AddedProcess::start(known_, call, std::move(standard));
    if (!process) return process.error();
    process_ = *std::move(process);
    return base::success();
}

void JailCommand::watch() {
    sources_.push_back(
        loop_.add(base::Source{[this] { return process_->descriptor(); }, [this] { hear(); }}));
    for (Capture* capture : {&out_, &err_}) {
        sources_.push_back(loop_.add(base::Source{[capture] {
                                                      bool must_wait =
                                                          capture->kept && !capture->kept->takes_input();
                                                      return must_wait ? -1 : capture->pipe.get();
                                                  },
                                                  [this, capture] { read_some(*capture); }}));
    }
    sources_.push_back(loop_.add(base::Stream{[this] {
                                                  bool has_some = sent_ < input_.size();
                                                  return pollfd{has_some ? stdin_.get() : -1, POLLOUT, 0};
                                              },
                                              [this](short /*events*/) { send_input(); }}));
    if (want_.longest.count() > 0) timer_ = loop_.after(want_.longest, [this] { take_timeout(SIGTERM); });
}

void JailCommand::take_timeout(int signal) {
    timer_ = 0;
    has_timed_out_ = true;
    process_->send_signal(signal);
    if (signal == SIGTERM) {
        process_->send_signal(SIGCONT);
        timer_ = loop_.after(kUntilKilled, [this] { take_timeout(SIGKILL); });
    }
}

void JailCommand::add_input(std::string_view bytes) {
    if (is_finished_ || !stdin_) return;
    input_.erase(0, std::exchange(sent_, 0));
    input_ += bytes;
}

void JailCommand::end_input() {
    is_input_over_ = true;
    if (sent_ == input_.size()) stdin_.reset();
}

// A command that reads no input closes the pipe. The rest is dropped then.
void JailCommand::send_input() {
    const ssize_t put =
        ::write(stdin_.get(), input_.data() + sent_, std::min(kPipeChunk, input_.size() - sent_));
    if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
    sent_ = put < 0 ? input_.size() : sent_ + static_cast<size_t>(put);
    if (sent_ < input_.size()) return;
    input_ = {};
    sent_ = 0;
    if (put < 0 || is_input_over_) stdin_.reset();
}

void JailCommand::hear() {
    process_->hear();
    if (!process_->is_over()) return;
    failure_ = process_->failure();
    if (process_->ending()) ending_ = *process_->ending();
    end();
}

void JailCommand::keep(Capture& capture, std::string_view bytes) {
    if (want_.keep.empty()) return;
    if (!std::exchange(capture.is_kept, true)) {
        // All so far is in the text, because the bound is not passed yet.
        Want want{.command = want_.keep,
                  .input = capture.text.text(),
                  .has_more_input = true,
                  .most_output = kMostOfKeeper};
        capture.kept = std::make_unique<JailCommand>(loop_, known_, std::move(want),
                                                     [this, alive = std::weak_ptr<bool>(alive_)] {
                                                         if (!alive.expired()) finish_if_over();
                                                     });
    }
    capture.kept->add_input(bytes);
}

void JailCommand::read_some(Capture& capture) {
    std::array<char, kPipeChunk> bytes;
    const ssize_t got = ::read(capture.pipe.get(), bytes.data(), bytes.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return capture.pipe.reset();
    const std::string_view text(bytes.data(), static_cast<size_t>(got));
    if (capture.is_kept || capture.text.bytes() + text.size() > capture.bound) keep(capture, text);
    capture.text.add(text);
}

// What the command had written when it ended. A process that it left in the background may write without end.
void JailCommand::read_rest(Capture& capture) {
    int waiting = 0;
    if (!capture.pipe || ::ioctl(capture.pipe.get(), FIONREAD, &waiting) != 0) return;
    const uint64_t wanted = capture.text.bytes() + static_cast<uint64_t>(waiting);
    while (capture.pipe && capture.text.bytes() < wanted) {
        const uint64_t before = capture.text.bytes();
        read_some(capture);
        if (capture.text.bytes() == before) break;
    }
    capture.pipe.reset();
}

void JailCommand::end() {
    for (Capture* capture : {&out_, &err_}) {
        read_rest(*capture);
        capture->pipe.reset();
        if (capture->kept) capture->kept->end_input();
    }
    if (timer_ != 0) loop_.cancel(timer_);
    stdin_.reset();
    input_ = {};
    sent_ = 0;
    is_over_ = true;
    finish_if_over();
}

void JailCommand::finish_if_over() {
    bool is_kept = (!out_.kept || out_.kept->is_finished_) && (!err_.kept || err_.kept->is_finished_);
    if (!is_over_ || !is_kept || std::exchange(is_finished_, true)) return;
    loop_.later(done_);
}

}  // namespace cli
