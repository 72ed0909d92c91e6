// SPDX-License-Identifier: MIT
// Theory of operation. The client passes one end of a stream in with its request. The supervisor gives it to
// the holder of the session's terminal (holder.cc), which answers on the same connection. The end of this
// process, however it comes, closes both, and detaches.
#include "session/detached/attach_client.h"

#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding/json.h"
#include "base/process/descriptors.h"
#include "base/process/event_loop.h"
#include "session/relayed_terminal.h"
#include "session/terminal.h"

namespace session {
namespace {

base::Error refused(std::string what, std::string advice) {
    return {.what = std::move(what), .advice = std::move(advice), .exit_code = base::ExitCode::jail_failed};
}

base::Json& set_size(base::Json& message, const struct winsize& size) {
    return message.set("rows", int64_t{size.ws_row}).set("columns", int64_t{size.ws_col});
}

class AttachClient {
  public:
    AttachClient(const Known& known, AttachCall call, base::Fd connection)
        : known_(known), call_(std::move(call)), connection_(std::move(connection)), relayed_(terminal_) {}

    base::Result<Attached> run();

  private:
    base::Status send_request();
    void hear();
    void take_answer(const base::Json& answer);
    void take_signal(const struct signalfd_siginfo& information);
    void stop();
    std::string filter(std::string_view typed);

    const Known& known_;
    AttachCall call_;
    base::Fd connection_;
    HeldSignals signals_;
    Terminal terminal_;
    RelayedTerminal relayed_;
    base::EventLoop loop_;
    bool is_attached_ = false;
    std::optional<Attached> end_;
    std::optional<base::Error> failure_;
};

base::Result<Attached> AttachClient::run() {
    if (!terminal_.is_given())
        return refused("attach needs a terminal for its input and its output, in the foreground",
                       "agent-sandbox exec runs a further command without one");
    if (base::Status sent = send_request(); !sent) return sent.error();
    loop_.add({[this] { return connection_.get(); }, [this] { hear(); }});
    loop_.add(base::signal_source(signals_.events(), [this](const auto& one) { take_signal(one); }));
    while (!end_ && !failure_) loop_.turn();
    // The last output of a session that has ended belongs on the screen.
    const bool shows_rest = end_ && end_->end == Attached::End::session;
    if (!shows_rest) relayed_.stop_output();
    relayed_.finish();
    terminal_.recover();
    if (failure_) return *failure_;
    return *end_;
}

base::Status AttachClient::send_request() {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return base::system_error("make a socket", errno);
    base::Fd ours(pair[0]), theirs(pair[1]);
    struct winsize size = {};
    ::ioctl(terminal_.descriptor(), TIOCGWINSZ, &size);
    base::Json request = base::Json::object();
    request.set("do", "attach").set("take", call_.takes);
    set_size(request, size);
    const int descriptors[] = {theirs.get()};
    const int number = base::send_with_descriptors(connection_.get(), request.dump(-1), descriptors, 0);
    // A session that refuses this process has replied already.
    if (number != 0 && number != EPIPE && number != ECONNRESET)
        return base::system_error("pass the terminal to the session", number);
    return relayed_.join({.stream = std::move(ours),
                          .resize =
                              [this](const struct winsize& now) {
                                  base::Json message = base::Json::object();
                                  const std::string text = set_size(message, now).dump(-1);
                                  (void)!::send(connection_.get(), text.data(), text.size(),
                                                MSG_NOSIGNAL | MSG_DONTWAIT);
                              },
                          .filter = [this](std::string_view typed) { return filter(typed); }});
}

std::string AttachClient::filter(std::string_view typed) {
    std::string passed = call_.keys.take(typed);
    if (call_.keys.are_complete() && !end_) end_ = {.end = Attached::End::detached};
    return passed;
}

void AttachClient::hear() {
    std::string text(kLargestControlMessage, '\0');
    const ssize_t got = ::recv(connection_.get(), text.data(), text.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0 && !is_attached_) {
        failure_ = has_ended(known_);
        failure_->exit_code = base::ExitCode::jail_failed;
        return;
    }
    if (got <= 0) {
        relayed_.set_left_in_order(false);
        end_ = {.end = Attached::End::lost};
        return;
    }
    text.resize(static_cast<size_t>(got));
    base::Result<base::Json> answer = base::Json::parse(text);
    if (answer && answer->is_object()) return take_answer(*answer);
    failure_ =
        refused("the session gave an answer that can't be read", "is it of another version of the program?");
}

void AttachClient::take_answer(const base::Json& answer) {
    if (!answer.truth("ok")) {
        failure_ =
            refused(answer.text("error", "the session refused without a reason"), answer.text("advice"));
        return;
    }
    if (const base::Json* ended = answer.find("ended")) {
        const bool by_signal = ended->find("signal") != nullptr;
        relayed_.set_left_in_order(ended->truth("in_order"));
        end_ = {.end = Attached::End::session,
                .number = static_cast<int>(ended->number(by_signal ? "signal" : "status")),
                .by_signal = by_signal};
        return;
    }
    if (answer.truth("taken")) {
        relayed_.set_left_in_order(false);
        end_ = {.end = Attached::End::taken};
        return;
    }
    if (std::exchange(is_attached_, true)) return;
    // The terminal changes only now: an error before is printed as usual. The session goes on to use the
    // modes of its screen, so this terminal is reset however the attachment ends.
    relayed_.set_left_in_order(false);
    if (base::Status begun = relayed_.begin(loop_); !begun) failure_ = begun.error();
}

void AttachClient::take_signal(const struct signalfd_siginfo& information) {
    const int signal = static_cast<int>(information.ssi_signo);
    switch (signal) {
        case SIGCHLD:
        case SIGCONT:
            return;
        case SIGWINCH:
            if (is_attached_) relayed_.resize();
            return;
        case SIGTSTP:
            return stop();
        default:
            if (!end_) end_ = {.end = Attached::End::signal, .number = signal};
            return;
    }
}

void AttachClient::stop() {
    relayed_.pause();
    stop_callers_job();
    relayed_.resume();
}

}  // namespace

base::Result<Attached> attach_to_session(const Known& known, AttachCall call) {
    base::Result<base::Fd> connection = connect_to_session(known);
    if (!connection) {
        base::Error error = connection.error();
        error.exit_code = base::ExitCode::jail_failed;
        return error;
    }
    return AttachClient(known, std::move(call), *std::move(connection)).run();
}

}  // namespace session
