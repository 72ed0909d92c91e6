// SPDX-License-Identifier: MIT
// Theory of operation. added_commands.cc has the messages. The command is not in this process's process
// group, and has no share in its terminal: signals that this process gets go to the session as messages. When
// this process ends, however it does, the session ends the command.
#include "session/control/exec_client.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>

#include "base/process/descriptors.h"
#include "base/process/event_loop.h"
#include "session/exec/exec_messages.h"
#include "session/relayed_terminal.h"
#include "session/session.h"
#include "session/standard_files.h"
#include "session/terminal.h"

namespace session {
namespace {

class ExecClient {
  public:
    ExecClient(const Known& known, const AddedCall& call, base::Fd connection)
        : known_(known), call_(call), connection_(std::move(connection)) {
        if (!call.wants_streams && call.captured == nullptr && terminal_.is_given())
            relayed_.emplace(terminal_);
    }

    base::Result<AddedEnding> run() {
        if (base::Status sent = send_request(); !sent) return sent.error();
        loop_.add({[this] { return connection_.get(); }, [this] { hear(); }});
        for (Capture& capture : captures_)
            loop_.add({[&capture] { return capture.pipe.get(); }, [&capture] { read_some(capture); }});
        loop_.add(base::signal_source(signals_.events(), [this](const auto& one) { take_signal(one); }));
        while (!ending_ && !failure_) loop_.turn();
        finish();
        if (failure_) return *failure_;
        return *ending_;
    }

  private:
    // One stream whose bytes stay in this process.
    struct Capture {
        int number = -1;
        base::BoundedText* text = nullptr;
        base::Fd pipe = {};   // not open: all is read
        base::Fd jails = {};  // the other end, until it is passed in
    };
    static constexpr size_t kChunk = 64u << 10;

    base::Status open_captures();
    static size_t read_some(Capture& capture);
    static void read_rest(Capture& capture);
    base::Status send_request();
    std::array<base::Fd, 3> standard_descriptors();
    void hear();
    void take_answer(const ExecAnswer& answer);
    void take_signal(const struct signalfd_siginfo& information);
    void send_signal(int signal, bool is_for_group);
    void stop();
    void finish();

    const Known& known_;
    const AddedCall& call_;
    base::Fd connection_;
    HeldSignals signals_;
    Terminal terminal_;
    StandardFiles files_;
    std::optional<RelayedTerminal> relayed_;
    std::vector<Capture> captures_;
    base::EventLoop loop_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    bool has_started_ = false;
    std::optional<AddedEnding> ending_;
    std::optional<base::Error> failure_;
};

base::Status ExecClient::open_captures() {
    if (call_.captured == nullptr) return base::success();
    captures_.push_back({.number = STDOUT_FILENO, .text = &call_.captured->out});
    captures_.push_back({.number = STDERR_FILENO, .text = &call_.captured->err});
    for (Capture& capture : captures_) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0)
            return base::system_error("make a pipe for the command's output", errno);
        capture.pipe = base::Fd(ends[0]);
        capture.jails = base::Fd(ends[1]);
        // The command's end blocks: only a read of this process must not.
        ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    }
    return base::success();
}

// Returns the number of bytes. At the end of the stream it closes the pipe.
size_t ExecClient::read_some(Capture& capture) {
    std::array<char, kChunk> bytes;
    const ssize_t got = ::read(capture.pipe.get(), bytes.data(), bytes.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (got <= 0) capture.pipe.reset();
    if (got <= 0) return 0;
    capture.text->add({bytes.data(), static_cast<size_t>(got)});
    return static_cast<size_t>(got);
}

// What the command had written when it ended. A process that it left in the background may write without end.
void ExecClient::read_rest(Capture& capture) {
    int waiting = 0;
    if (!capture.pipe || ::ioctl(capture.pipe.get(), FIONREAD, &waiting) != 0) return;
    for (auto left = static_cast<size_t>(waiting); left > 0;) {
        const size_t got = read_some(capture);
        if (got == 0) return;
        left -= std::min(got, left);
    }
}

// A terminal in the background must not be read: the command, in another session, would take the keys of the
// foreground job.
std::array<base::Fd, 3> ExecClient::standard_descriptors() {
    std::array<base::Fd, 3> all;
    base::Fd inner = relayed_ ? relayed_->take_inner() : base::Fd();
    for (int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        const bool is_terminal = ::isatty(number) != 0;
        int source = relayed_ && is_terminal ? inner.get() : number;
        base::Fd& place = all[static_cast<size_t>(number)];
        if (number == STDIN_FILENO && !relayed_ && is_terminal && !terminal_.is_ours()) {
            place = base::Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        } else {
            place = base::Fd(::fcntl(source, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
        }
    }
    for (Capture& capture : captures_) all[static_cast<size_t>(capture.number)] = std::move(capture.jails);
    return all;
}

base::Status ExecClient::send_request() {
    if (base::Status opened = open_captures(); !opened) return opened;
    if (relayed_) {
        if (base::Status opened = relayed_->open(); !opened) return opened;
    }
    base::Result<std::string> text = encode(ExecRequest{
        .call = call_, .has_terminal = relayed_.has_value(), .ignored_signals = signals_.before().ignored});
    if (!text) return text.error();
    if (base::Status replaced = files_.replace(); !replaced) return replaced;
    int number = 0;
    {
        std::array<base::Fd, 3> all = standard_descriptors();
        const int descriptors[] = {all[0].get(), all[1].get(), all[2].get()};
        number = base::send_with_descriptors(connection_.get(), *text, descriptors, 0);
    }
    if (base::Status copied = files_.give_back(); !copied) return copied;
    // A session that refuses this process has replied already.
    if (number != 0 && number != EPIPE && number != ECONNRESET)
        return base::system_error("pass the command to the session", number);
    return base::success();
}

void ExecClient::hear() {
    std::string text(kLargestControlMessage, '\0');
    ssize_t got = ::recv(connection_.get(), text.data(), text.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    take_answer(got <= 0 ? exec_answer_of_end(known_, has_started_) : decode_exec_answer(text));
}

void ExecClient::take_answer(const ExecAnswer& answer) {
    if (answer.ending) ending_ = answer.ending;
    if (answer.failure) failure_ = answer.failure;
    // The terminal changes only when the command runs: an error before is printed as usual.
    if (ending_ || failure_ || std::exchange(has_started_, true) || !relayed_) return;
    if (base::Status begun = relayed_->begin(loop_); !begun) failure_ = begun.error();
}

// A signal of the terminal is meant for the whole job, a signal of kill(2) for one process.
void ExecClient::send_signal(int signal, bool is_for_group) {
    const std::string text = encode_signal(signal, is_for_group);
    (void)!::send(connection_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void ExecClient::take_signal(const struct signalfd_siginfo& information) {
    const int signal = static_cast<int>(information.ssi_signo);
    switch (signal) {
        case SIGCHLD:
        case SIGCONT:
            return;
        case SIGWINCH:
            if (relayed_) relayed_->resize();
            return;
        case SIGTSTP:
            return stop();
        default:
            break;
    }
    // Only a terminal has a reader, and only after the start.
    const bool ends_us = signal == SIGHUP || (!has_started_ && (signal == SIGINT || signal == SIGTERM));
    if (ends_us) {
        ending_ = {.exit_code = kSignalBase + signal, .by_signal = true};
        return;
    }
    send_signal(signal, information.ssi_code == SI_KERNEL);
}

void ExecClient::stop() {
    send_signal(SIGSTOP, true);
    if (relayed_) relayed_->pause();
    stop_callers_job();
    if (relayed_) relayed_->resume();
    send_signal(SIGCONT, true);
}

void ExecClient::finish() {
    if (relayed_) relayed_->finish();
    for (Capture& capture : captures_) read_rest(capture);
    if (ending_)
        ending_->duration =
            std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began_);
    connection_.reset();
    terminal_.recover();
    base::Status copied = files_.finish(StandardFiles::Left::processes);
    if (!copied && ending_) ending_->lost_output = copied.error().line();
}

}  // namespace

base::Result<AddedEnding> exec_in_session(const Known& known, const AddedCall& call) {
    base::Result<base::Fd> connection = connect_to_session(known);
    if (!connection) {
        base::Error error = connection.error();
        error.exit_code = base::ExitCode::jail_failed;
        return error;
    }
    return ExecClient(known, call, *std::move(connection)).run();
}

}  // namespace session
