// SPDX-License-Identifier: MIT
// Theory of operation. Two ways of bytes, each with a bound, and neither blocks the other:
//
//   terminal → replay, client   while a client's share is full, the terminal is not read, so the command
//   waits
//                               as it would for a slow terminal; without a client all output is taken
//   client → terminal           while the terminal takes no keys, the client is not read
//
// The client's connection carries JSON messages: sizes from the client, and the end of the session or of the
// attachment to it. Its stream carries the bytes of the terminal, and nothing else.
//
// A full-screen program redraws when the size of its terminal changes. So a new client's terminal is at first
// one line lower, and after kRedraw has its own size.
#include "session/detached/holder.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <utility>

#include "base/encoding/json.h"
#include "base/process/descriptors.h"
#include "base/process/event_loop.h"
#include "base/process/own_process.h"
#include "base/text.h"
#include "inner/command/process_state.h"
#include "session/detached/replay.h"
#include "session/session.h"

namespace session {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostUnread = 256u << 10;  // of a client; a replay may exceed it
constexpr size_t kLargestKeys = 4096;
constexpr size_t kLongestMessage = 4096;
constexpr std::chrono::milliseconds kRedraw{60};
// A process that outlived its jail could write without end.
constexpr int kMostLastReads = 64;
// How long a client may take for the last output.
constexpr std::chrono::seconds kLongestFarewell{5};

struct winsize size_in(const base::Json& message) {
    auto side = [&](std::string_view key) {
        return static_cast<unsigned short>(std::clamp<int64_t>(message.number(key), 1, 10000));
    };
    return {.ws_row = side("rows"), .ws_col = side("columns"), .ws_xpixel = 0, .ws_ypixel = 0};
}

// A client that does not read its messages gets no further ones.
void send_message(const base::Fd& connection, const base::Json& message) {
    const std::string text = message.dump(-1);
    (void)!::send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

class Holder {
  public:
    explicit Holder(HolderParts parts);

    // Returns when the supervisor has ended.
    void run();

  private:
    struct Client {
        base::Fd connection, stream;
        std::string unread;      // output that its stream has not taken
        size_t taken = 0;        // of `unread`
        std::string typed = {};  // keys that the terminal has not taken
        bool has_keys = true;
    };

    void take_request();
    void attach(const base::Json& request, std::vector<base::Fd> descriptors);
    void detach();
    void take_message();
    void take_output();
    void put_output();
    void take_keys();
    void put_keys();
    void set_size(const struct winsize& size);
    void restore_size();
    int until_redraw() const;
    size_t unread() const { return client_ ? client_->unread.size() - client_->taken : 0; }
    bool is_in_order() const;
    void finish(int status);

    HolderParts parts_;
    base::EventLoop loop_;
    base::Fd children_;
    Replay replay_;
    std::optional<Client> client_;
    struct winsize size_ = {};
    std::optional<Clock::time_point> redraw_;
    bool is_open_ = true;  // a process has the inner end
    std::optional<int> status_;
};

Holder::Holder(HolderParts parts) : parts_(std::move(parts)) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    children_ = base::Fd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    loop_.add_check([this] { return until_redraw(); }, [this] { restore_size(); });
    loop_.add({[this] { return parts_.supervisor.get(); }, [this] { take_request(); }});
    loop_.add({[this] { return client_ ? client_->connection.get() : -1; }, [this] { take_message(); }});
    loop_.add(base::Stream{[this] {
                               if (!client_) return pollfd{-1, 0, 0};
                               short events = 0;
                               if (client_->has_keys && client_->typed.empty()) events |= POLLIN;
                               if (unread() > 0) events |= POLLOUT;
                               return pollfd{events != 0 ? client_->stream.get() : -1, events, 0};
                           },
                           [this](short events) {
                               if (events & POLLOUT) put_output();
                               if (client_ && (events & (POLLIN | POLLHUP | POLLERR))) take_keys();
                           }});
    loop_.add(base::Stream{[this] {
                               short events = 0;
                               if (unread() < kMostUnread) events |= POLLIN;
                               if (client_ && !client_->typed.empty()) events |= POLLOUT;
                               return pollfd{is_open_ && events != 0 ? parts_.terminal.get() : -1, events, 0};
                           },
                           [this](short events) {
                               if (events & POLLOUT) put_keys();
                               if (events & (POLLIN | POLLHUP | POLLERR)) take_output();
                           }});
    loop_.add(base::signal_source(children_.get(), [this](const auto&) {
        int status = 0;
        if (::waitpid(parts_.process, &status, WNOHANG) == parts_.process) status_ = status;
    }));
}

void Holder::run() {
    while (!status_) loop_.turn();
    finish(*status_);
}

// ---- The supervisor

void Holder::take_request() {
    base::Result<base::PassedDescriptors> passed = base::receive_descriptors(parts_.supervisor.get());
    if (!passed && (errno == EAGAIN || errno == EINTR)) return;
    if (!passed || passed->note.empty()) {
        parts_.supervisor.reset();
        return;
    }
    base::Result<base::Json> request = base::Json::parse(passed->note);
    if (request && request->is_object() && passed->descriptors.size() == 2)
        attach(*request, std::move(passed->descriptors));
}

void Holder::attach(const base::Json& request, std::vector<base::Fd> descriptors) {
    if (client_ && !request.truth("take")) {
        base::Json refused = base::Json::object();
        refused.set("ok", false).set("error", "the session is attached to another terminal");
        refused.set("advice", "agent-sandbox attach --take attaches it here");
        return send_message(descriptors[0], refused);
    }
    if (client_) send_message(client_->connection, base::Json::object().set("ok", true).set("taken", true));
    client_ = Client{.connection = std::move(descriptors[0]),
                     .stream = std::move(descriptors[1]),
                     .unread = replay_.text()};
    for (const base::Fd* one : {&client_->connection, &client_->stream})
        ::fcntl(one->get(), F_SETFL, O_NONBLOCK);
    send_message(client_->connection, base::Json::object().set("ok", true).set("attached", true));
    size_ = size_in(request);
    struct winsize lower = size_;
    lower.ws_row = static_cast<unsigned short>(lower.ws_row > 1 ? lower.ws_row - 1 : 2);
    ::ioctl(parts_.terminal.get(), TIOCSWINSZ, &lower);
    redraw_ = Clock::now() + kRedraw;
    (void)base::send_descriptors(parts_.supervisor.get(), kAttached, {});
}

void Holder::detach() {
    if (redraw_) {
        redraw_ = Clock::now();
        restore_size();
    }
    client_.reset();
    (void)base::send_descriptors(parts_.supervisor.get(), kDetached, {});
}

// ---- The size

void Holder::set_size(const struct winsize& size) {
    size_ = size;
    if (!redraw_) ::ioctl(parts_.terminal.get(), TIOCSWINSZ, &size_);
}

void Holder::restore_size() {
    if (!redraw_ || Clock::now() < *redraw_) return;
    redraw_.reset();
    ::ioctl(parts_.terminal.get(), TIOCSWINSZ, &size_);
}

int Holder::until_redraw() const {
    if (!redraw_) return -1;
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*redraw_ - Clock::now());
    return static_cast<int>(std::clamp<int64_t>(left.count() + 1, 0, kRedraw.count() + 1));
}

// ---- The client

// A closed connection detaches, however the client ended.
void Holder::take_message() {
    char bytes[kLongestMessage];
    const ssize_t got = ::recv(client_->connection.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return detach();
    base::Result<base::Json> message = base::Json::parse(std::string_view(bytes, static_cast<size_t>(got)));
    const bool has_size = message && message->is_object() && message->number("rows") > 0;
    if (has_size) set_size(size_in(*message));
}

void Holder::take_keys() {
    char bytes[kLargestKeys];
    const ssize_t got = ::read(client_->stream.get(), bytes, sizeof bytes);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        client_->has_keys = false;
        return;
    }
    client_->typed.assign(bytes, static_cast<size_t>(got));
    put_keys();
}

void Holder::put_keys() {
    const ssize_t put = ::write(parts_.terminal.get(), client_->typed.data(), client_->typed.size());
    if (put > 0) client_->typed.erase(0, static_cast<size_t>(put));
    if (put < 0 && errno != EAGAIN && errno != EINTR) client_->typed.clear();
}

void Holder::put_output() {
    const ssize_t put = ::send(client_->stream.get(), client_->unread.data() + client_->taken, unread(),
                               MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
    // Its connection is closed, too, or soon.
    client_->taken = put < 0 ? client_->unread.size() : client_->taken + static_cast<size_t>(put);
    if (unread() > 0) return;
    client_->unread.clear();
    client_->taken = 0;
}

// ---- The terminal

void Holder::take_output() {
    char bytes[65536];
    // One read returns what one write of a process has put there, or a page.
    size_t count = 0;
    while (count < sizeof bytes) {
        const ssize_t got = ::read(parts_.terminal.get(), bytes + count, sizeof bytes - count);
        if (got > 0) {
            count += static_cast<size_t>(got);
            continue;
        }
        const bool is_empty = got < 0 && (errno == EAGAIN || errno == EINTR);
        is_open_ = is_empty;
        break;
    }
    const std::string_view output(bytes, count);
    replay_.add(output);
    if (!client_ || output.empty()) return;
    client_->unread.append(output);
    put_output();
}

// A full-screen program that was killed could not restore the screen; the client does then.
bool Holder::is_in_order() const {
    struct termios now;
    return ::tcgetattr(parts_.terminal.get(), &now) == 0 && (now.c_lflag & ICANON) != 0;
}

// The supervisor has ended, and no process that it left behind may delay this one.
void Holder::finish(int status) {
    const bool by_signal = WIFSIGNALED(status);
    const int number = by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
    const std::string line = base::format("ended {}\n", by_signal ? kSignalBase + number : number);
    (void)!::write(parts_.caller.get(), line.data(), line.size());
    for (int turns = 0; turns < kMostLastReads && is_open_; ++turns) {
        if (!(base::ready_events(parts_.terminal.get(), POLLIN) & POLLIN)) break;
        take_output();
    }
    if (!client_) return;
    const auto latest = Clock::now() + kLongestFarewell;
    while (unread() > 0 && base::await_events(client_->stream.get(), POLLOUT, latest) != 0) put_output();
    ::shutdown(client_->stream.get(), SHUT_RDWR);
    base::Json ended = base::Json::object();
    ended.set(by_signal ? "signal" : "status", number).set("in_order", is_in_order());
    send_message(client_->connection, base::Json::object().set("ok", true).set("ended", std::move(ended)));
}

}  // namespace

void hold_terminal(HolderParts parts) {
    using namespace std::string_view_literals;
    ::prctl(PR_SET_NAME, "asb-detached");
    base::replace_arguments("agent-sandbox\0detached-terminal"sv);
    base::forget_environment();
    constexpr int kUnheard[] = {SIGPIPE, SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
                                SIGALRM, SIGXFSZ, SIGTTOU, SIGTTIN, SIGTSTP, SIGCHLD};
    inner::block_only(inner::signal_bits(kUnheard));
    (void)!::chdir("/");
    base::close_others({parts.terminal.get(), parts.supervisor.get(), parts.caller.get()});
    base::fill_standard_descriptors();
    Holder(std::move(parts)).run();
    ::_exit(0);
}

}  // namespace session
