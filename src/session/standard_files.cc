// SPDX-License-Identifier: MIT
// Theory of operation. Every backend passes 0, 1 and 2 on unchanged, so the pipes are there only while the
// jail is started. The relay reads an input with pread, which does not move the offset that it shares with
// the caller. In
//
//     while read -r line; do agent-sandbox -- true; done <list
//
// the loop must continue with the next line. At the end the relay moves the offset by the number of bytes
// that the command read from the pipe. It writes an output at the shared offset, so that later output of the
// caller follows.
#include "session/standard_files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/process/descriptors.h"
#include "base/process/event_loop.h"

namespace session {
namespace {

constexpr size_t kPipeSize = 65536;  // the size of a pipe
constexpr const char* kStreamNames[] = {"standard input", "standard output", "standard error"};
constexpr char kOutputStaysOpen = 'o';  // sent to the relay: do not wait for the end of an output
constexpr int kRelayKilled = 255;       // as the relay's errno: it did not exit by itself

bool is_input(int number, int flags) {
    int mode = flags & O_ACCMODE;
    return mode == O_RDONLY || (mode == O_RDWR && number == STDIN_FILENO);
}

bool is_same_file(int one, int other) {
    struct stat first, second;
    return ::fcntl(one, F_GETFL) == ::fcntl(other, F_GETFL) && ::fstat(one, &first) == 0 &&
           ::fstat(other, &second) == 0 && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// One stream of the relay. Each step copies at most one chunk and returns an errno.
class Input {
  public:
    Input(int file, base::Fd pipe, base::Fd jails)
        : file_(file), pipe_(std::move(pipe)), jails_(std::move(jails)), start_(::lseek(file, 0, SEEK_CUR)) {
        ::fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
    }

    int events() const { return pipe_.get(); }

    // A write to a pipe accepts a whole chunk or a part of it.
    int step() {
        char bytes[kPipeSize];
        ssize_t got = ::pread(file_, bytes, sizeof bytes, start_ + written_);
        if (got <= 0) {
            pipe_.reset();
            return got < 0 ? errno : 0;
        }
        ssize_t put = ::write(pipe_.get(), bytes, static_cast<size_t>(got));
        if (put > 0) written_ += put;
        return 0;
    }

    void settle() {
        int unread = 0;
        if (!jails_ || ::ioctl(jails_.get(), FIONREAD, &unread) != 0) return;
        // Another process that shares the file may have moved the offset meanwhile.
        if (written_ > unread && ::lseek(file_, 0, SEEK_CUR) == start_)
            ::lseek(file_, start_ + written_ - unread, SEEK_SET);
        pipe_.reset();
        jails_.reset();
    }

  private:
    int file_;
    base::Fd pipe_, jails_;
    off_t start_;
    off_t written_ = 0;
};

class Output {
  public:
    Output(int file, base::Fd pipe) : file_(file), pipe_(std::move(pipe)) {}

    int events() const { return pipe_.get(); }

    int step() {
        char bytes[kPipeSize];
        ssize_t got = ::read(pipe_.get(), bytes, sizeof bytes);
        if (got < 0 && errno == EINTR) return 0;
        if (got <= 0) {
            pipe_.reset();
            return 0;
        }
        for (size_t done = 0; done < static_cast<size_t>(got);) {
            ssize_t put = ::write(file_, bytes + done, static_cast<size_t>(got) - done);
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) {
                int number = errno;
                pipe_.reset();  // the command gets EPIPE
                return number;
            }
            done += static_cast<size_t>(put);
        }
        return 0;
    }

    // Copies what is in the pipe, and closes it.
    int step_to_pause() {
        int number = 0;
        while (number == 0 && pipe_ && base::ready_events(pipe_.get(), POLLIN) & POLLIN) number = step();
        pipe_.reset();
        return number;
    }

  private:
    int file_;
    base::Fd pipe_;
};

}  // namespace

base::Status StandardFiles::replace() {
    for (int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        struct stat status;
        if (::fstat(number, &status) != 0 || !S_ISREG(status.st_mode)) continue;
        if (base::Status replaced = replace_one(number); !replaced) return replaced;
    }
    return base::success();
}

base::Status StandardFiles::replace_one(int number) {
    Stream& stream = streams_[static_cast<size_t>(number)];
    stream.is_input = is_input(number, ::fcntl(number, F_GETFL));
    stream.file = base::Fd(::fcntl(number, F_DUPFD_CLOEXEC, 3));
    if (!stream.file) return base::system_error(std::string("keep the ") + kStreamNames[number], errno);
    for (int earlier = 0; earlier < number && !stream.is_input; ++earlier) {
        const Stream& other = streams_[static_cast<size_t>(earlier)];
        if (!other.is_replaced || other.same_as >= 0 || !is_same_file(other.file.get(), number)) continue;
        stream.same_as = earlier;
        ::dup2(earlier, number);
        stream.is_replaced = true;
        return base::success();
    }
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    base::Fd reader(ends[0]), writer(ends[1]);
    ::dup2(stream.is_input ? reader.get() : writer.get(), number);
    stream.is_replaced = true;
    stream.pipe = std::move(stream.is_input ? writer : reader);
    if (stream.is_input) stream.jails = std::move(reader);
    return base::success();
}

void StandardFiles::restore() {
    for (int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        Stream& stream = streams_[static_cast<size_t>(number)];
        if (stream.is_replaced) ::dup2(stream.file.get(), number);
        stream.is_replaced = false;
    }
}

base::Status StandardFiles::give_back() {
    restore();
    bool is_needed = false;
    for (const Stream& stream : streams_) is_needed = is_needed || stream.pipe;
    if (!is_needed) return base::success();
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    base::Fd over(ends[0]);
    life_ = base::Fd(ends[1]);
    relay_ = ::fork();
    if (relay_ < 0) return base::system_error("start the process that copies the command's output", errno);
    if (relay_ == 0) run_relay(over.get());
    streams_ = {};
    return base::success();
}

// Signals are blocked here as in the supervisor, so that Ctrl-C ends the command, but not the relay before it
// has copied the last output. If the supervisor is killed, the jail dies too, and its output still arrives.
void StandardFiles::run_relay(int over) {
    ::prctl(PR_SET_NAME, "asb-relay");
    std::vector<int> kept = {over};
    for (const Stream& stream : streams_)
        kept.insert(kept.end(), {stream.file.get(), stream.pipe.get(), stream.jails.get()});
    base::close_others(kept);
    (void)!::chdir("/");
    std::vector<Input> inputs;
    std::vector<Output> outputs;
    for (Stream& stream : streams_) {
        if (!stream.pipe) continue;
        if (stream.is_input) {
            inputs.emplace_back(stream.file.get(), std::move(stream.pipe), std::move(stream.jails));
        } else {
            outputs.emplace_back(stream.file.get(), std::move(stream.pipe));
        }
    }
    int failure = 0;
    bool is_over = false;
    auto note = [&failure](int number) {
        if (failure == 0) failure = number;
    };
    base::EventLoop loop;
    for (Input& input : inputs) {
        loop.add(base::Stream{[&] {
                                  return pollfd{is_over ? -1 : input.events(), POLLOUT, 0};
                              },
                              [&](short) { note(input.step()); }});
    }
    for (Output& output : outputs) loop.add({[&] { return output.events(); }, [&] { note(output.step()); }});
    loop.add({[&] { return is_over ? -1 : over; },
              [&] {
                  is_over = true;
                  for (Input& input : inputs) input.settle();
                  char word = 0;
                  if (::read(over, &word, 1) != 1 || word != kOutputStaysOpen) return;
                  for (Output& output : outputs) note(output.step_to_pause());
              }});
    auto is_open = [](const Output& output) { return output.events() >= 0; };
    while (!is_over || std::ranges::any_of(outputs, is_open)) loop.turn();
    ::_exit(failure);
}

base::Status StandardFiles::finish(Left left) {
    if (relay_ < 0) return base::success();
    // Closing it is not enough: helpers that were forked meanwhile may have it open too.
    (void)!::write(life_.get(), left == Left::processes ? &kOutputStaysOpen : "", 1);
    life_.reset();
    int status = 0;
    while (::waitpid(relay_, &status, 0) < 0 && errno == EINTR) continue;
    relay_ = -1;
    int number = WIFEXITED(status) ? WEXITSTATUS(status) : kRelayKilled;
    if (number == 0) return base::success();
    if (number == kRelayKilled)
        return base::Error{.what = "the process that copies the command's input and output was killed"};
    return base::system_error("copy the command's input or output", number);
}

StandardFiles::~StandardFiles() {
    restore();
    streams_ = {};
    (void)finish();
}

}  // namespace session
