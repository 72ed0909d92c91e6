// SPDX-License-Identifier: MIT
// Theory of operation. The socket preserves message boundaries, so that one call reads a whole request or
// writes a whole reply. One epoll descriptor represents all connections in the supervisor's loop.
//
// Threat: a process of the jail that reaches the socket could open the network for itself. The socket is in a
// directory that no jail shows. The supervisor still checks each client: it must belong to the same user or
// to root, and run outside the jail (tests/jail/sessions.bats).
#include "session/control/control.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/format.h"
#include "base/parse.h"
#include "base/text.h"

namespace session {
namespace {

constexpr size_t kLargestRequest = 64u << 10;
constexpr size_t kMostConnections = 64;
constexpr uint64_t kListenerSlot = 0;
constexpr uint64_t kDescriptors = uint64_t{1} << 32;  // from here on: descriptors of watch()
constexpr int kMostGenerations = 1000;

bool add(int events, int descriptor, uint64_t id) {
    struct epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = id;
    return ::epoll_ctl(events, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

pid_t parent_of(pid_t process) {
    base::Result<std::string> text = base::read_file(base::format("/proc/{}/stat", process));
    size_t name_end = text ? text->rfind(')') : std::string::npos;
    if (name_end == std::string::npos || name_end + 4 >= text->size()) return -1;
    std::string_view rest = std::string_view(*text).substr(name_end + 4);  // ") S "
    return base::leading_number<pid_t>(rest).value_or(-1);
}

bool shares_pid_namespace(pid_t process) {
    struct stat ours, theirs;
    std::string path = base::format("/proc/{}/ns/pid", process);
    return ::stat("/proc/self/ns/pid", &ours) == 0 && ::stat(path.c_str(), &theirs) == 0 &&
           ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

}  // namespace

bool is_outside_of_jail(pid_t process, pid_t stage) {
    if (process <= 0 || !shares_pid_namespace(process)) return false;
    for (int generation = 0; process > 1 && generation < kMostGenerations; ++generation) {
        if (process == stage) return false;
        process = parent_of(process);
    }
    return process == 0 || process == 1;
}

base::Json refusal(const base::Error& error) {
    base::Json reply = base::Json::object();
    reply.set("ok", false)
        .set("error", error.where.empty() ? error.what : base::format("{}: {}", error.where, error.what));
    if (!error.advice.empty()) reply.set("advice", error.advice);
    return reply;
}

void Control::open(int listener, IsOutside is_outside) {
    base::Fd events(::epoll_create1(EPOLL_CLOEXEC));
    if (listener < 0 || !events || !add(events.get(), listener, kListenerSlot)) return;
    listener_ = listener;
    is_outside_ = std::move(is_outside);
    events_ = std::move(events);
}

void Control::handle(std::string_view request, Handler handler) {
    handlers_[std::string(request)] = std::move(handler);
}

void Control::close() {
    events_.reset();
    connections_.clear();
    watched_.clear();
    listener_ = -1;
}

void Control::watch(int descriptor, std::function<void()> on_ready) {
    uint64_t id = kDescriptors + static_cast<uint64_t>(descriptor);
    if (add(events_.get(), descriptor, id)) watched_[id] = std::move(on_ready);
}

void Control::forget(int descriptor) {
    watched_.erase(kDescriptors + static_cast<uint64_t>(descriptor));
    if (events_) ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

void Control::take() {
    struct epoll_event ready[16];
    int count = ::epoll_wait(events_.get(), ready, std::size(ready), 0);
    for (int i = 0; i < count && events_; ++i) {
        uint64_t id = ready[i].data.u64;
        if (id == kListenerSlot) {
            admit();
        } else if (id >= kDescriptors) {
            auto watched = watched_.find(id);
            if (watched == watched_.end()) continue;
            std::function<void()> on_ready = watched->second;
            on_ready();
        } else {
            hear(id);
        }
    }
}

void Control::admit() {
    base::Fd socket(::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) return;
    struct ucred peer = {};
    socklen_t size = sizeof peer;
    bool is_known = ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    bool is_ours = is_known && (peer.uid == ::geteuid() || peer.uid == 0) && is_outside_(peer.pid);
    if (!is_ours) return;
    // Close the oldest connection, so that idle clients can't keep new ones out.
    if (connections_.size() >= kMostConnections) connections_.erase(connections_.begin());
    uint64_t id = ++last_id_;
    if (add(events_.get(), socket.get(), id)) connections_[id] = Connection{std::move(socket)};
}

void Control::hear(uint64_t id) {
    auto found = connections_.find(id);
    if (found == connections_.end()) return;
    std::string text(kLargestRequest, '\0');
    ssize_t got = ::recv(found->second.socket.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        connections_.erase(found);
        return;
    }
    if (static_cast<size_t>(got) > text.size())
        return answer(id, refusal({.what = "the request is too long"}));
    text.resize(static_cast<size_t>(got));
    base::Result<base::Json> request = base::Json::parse(text);
    if (!request || !request->is_object())
        return answer(id, refusal({.what = "the request is no JSON object"}));
    std::string wanted = request->text("do");
    auto handler = handlers_.find(wanted);
    if (handler == handlers_.end()) {
        return answer(
            id,
            refusal({.what = base::format("the session does not know how to '{}'", base::printable(wanted)),
                     .advice = "it may have been started by an older agent-sandbox"}));
    }
    handler->second(*request, [this, id](const base::Json& reply) { answer(id, reply); });
}

void Control::answer(uint64_t id, const base::Json& reply) {
    auto found = connections_.find(id);
    if (found == connections_.end()) return;
    std::string text = reply.dump(-1);
    ssize_t sent = ::send(found->second.socket.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) connections_.erase(found);
}

}  // namespace session
