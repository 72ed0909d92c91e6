// SPDX-License-Identifier: MIT
// Theory of operation. The socket preserves message boundaries, so that one call reads a whole request or
// writes a whole reply. Its own event loop has all connections, and
// represents them in the supervisor's loop by one epoll descriptor.
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
#include <utility>

#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/text.h"

namespace session {
namespace {

constexpr size_t kLargestRequest = 64u << 10;
constexpr size_t kMostConnections = 64;
constexpr int kMostGenerations = 1000;

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

base::Error may_be_inside() {
    return {.what = "the session takes no request from this process, because it may be in the jail",
            .advice = "call agent-sandbox from a login shell or as root, or use --backend native or bwrap"};
}

// Every process of a jail has given up new privileges, for good.
bool may_gain_privileges(pid_t process) {
    base::Result<std::string> text = base::read_file(base::format("/proc/{}/status", process));
    return text && text->find("\nNoNewPrivs:\t0\n") != std::string::npos;
}

}  // namespace

bool is_outside_of_jail(pid_t process, std::optional<pid_t> stage) {
    if (process <= 0 || !shares_pid_namespace(process)) return false;
    if (!stage) return true;
    const pid_t asker = process;
    for (int generation = 0; process > 1 && generation < kMostGenerations; ++generation) {
        if (process == stage) return false;
        process = parent_of(process);
    }
    if (process == 0 || process == 1) return true;
    // /proc hides an ancestor (hidepid): it may be the system's, or one of the jail that hides itself.
    return may_gain_privileges(asker);
}

base::Json refusal(const base::Error& error) {
    base::Json reply = base::Json::object();
    reply.set("ok", false)
        .set("error", error.where.empty() ? error.what : base::format("{}: {}", error.where, error.what));
    if (!error.advice.empty()) reply.set("advice", error.advice);
    return reply;
}

void Control::open(int listener, IsOutside is_outside) {
    admission_.act = [this] { admit(); };
    if (listener < 0 || !loop_.open()) return;
    if (!add(listener, admission_)) return loop_.close();
    listener_ = listener;
    is_outside_ = std::move(is_outside);
}

bool Control::add(int descriptor, Watched& watched) {
    watched.slot = loop_.watch(descriptor, EPOLLIN, watched);
    return watched.slot != nullptr;
}

void Control::handle(std::string_view request, Handler handler) {
    handlers_[std::string(request)] = std::move(handler);
}

void Control::handle_visits(std::string_view request, Host host) {
    hosts_[std::string(request)] = std::move(host);
}

void Control::close() {
    while (!connections_.empty()) drop(connections_.begin()->first);
    while (!watched_.empty()) forget(watched_.begin()->first);
    // Closing epoll removes it.
    loop_.forget_closing(std::exchange(admission_.slot, nullptr));
    listener_ = -1;
    loop_.close();
}

void Control::watch(int descriptor, std::function<void()> on_ready) {
    auto watched = std::make_shared<Watched>();
    watched->act = std::move(on_ready);
    if (add(descriptor, *watched)) watched_[descriptor] = std::move(watched);
}

void Control::forget(int descriptor) {
    auto found = watched_.find(descriptor);
    if (found == watched_.end()) return;
    loop_.forget(found->second->slot, descriptor);
    // It may be the one that is served now.
    loop_.bury(std::move(found->second));
    watched_.erase(found);
}

void Control::take() {
    loop_.turn(std::chrono::milliseconds(0));
}

// A helper that was just forked may still have the socket open, so closing it would not remove it from epoll.
void Control::drop(uint64_t id) {
    release(id).reset();
}

base::Fd Control::release(uint64_t id) {
    auto found = connections_.find(id);
    if (found == connections_.end()) return {};
    loop_.forget(found->second->slot, found->second->socket.get());
    base::Fd socket = std::move(found->second->socket);
    loop_.bury(std::move(found->second));
    connections_.erase(found);
    return socket;
}

void Control::admit() {
    base::Fd socket(::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) return;
    struct ucred peer = {};
    socklen_t size = sizeof peer;
    bool is_known = ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    // No process of the jail is root outside it, unless its user is root.
    const uid_t own = ::geteuid();
    bool is_root = is_known && peer.uid == 0 && own != 0;
    bool is_users = is_known && peer.uid == own;
    if (!is_root && !is_users) return;
    if (is_users && !is_outside_(peer.pid)) {
        const std::string text = refusal(may_be_inside()).dump(-1);
        (void)!::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        return;
    }
    // Close the oldest connection, so that idle clients can't keep new ones out.
    if (connections_.size() >= kMostConnections) drop(connections_.begin()->first);
    uint64_t id = ++last_id_;
    auto connection = std::make_shared<Watched>();
    connection->act = [this, id] { hear(id); };
    connection->socket = std::move(socket);
    if (add(connection->socket.get(), *connection)) connections_[id] = std::move(connection);
}

void Control::hear(uint64_t id) {
    auto found = connections_.find(id);
    if (found == connections_.end()) return;
    std::string text(kLargestRequest, '\0');
    struct iovec place = {text.data(), text.size()};
    alignas(struct cmsghdr) char extra[CMSG_SPACE(kMostDescriptors * sizeof(int))];
    struct msghdr message = {};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    message.msg_control = extra;
    message.msg_controllen = sizeof extra;
    ssize_t got =
        ::recvmsg(found->second->socket.get(), &message, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return drop(id);
    std::vector<base::Fd> descriptors = base::passed_descriptors(message);
    if (static_cast<size_t>(got) > text.size())
        return answer(id, refusal({.what = "the request is too long"}));
    text.resize(static_cast<size_t>(got));
    base::Result<base::Json> request = base::Json::parse(text);
    if (!request || !request->is_object())
        return answer(id, refusal({.what = "the request is no JSON object"}));
    obey(id, *request, std::move(descriptors));
}

void Control::obey(uint64_t id, const base::Json& request, std::vector<base::Fd> descriptors) {
    std::string wanted = request.text("do");
    if (auto host = hosts_.find(wanted); host != hosts_.end())
        return host->second(request, {release(id), std::move(descriptors)});
    auto handler = handlers_.find(wanted);
    if (handler == handlers_.end()) {
        return answer(
            id,
            refusal({.what = base::format("the session does not know how to '{}'", base::printable(wanted)),
                     .advice = "it may have been started by an older agent-sandbox"}));
    }
    handler->second(request, [this, id](const base::Json& reply) { answer(id, reply); });
}

void Control::answer(uint64_t id, const base::Json& reply) {
    auto found = connections_.find(id);
    if (found == connections_.end()) return;
    std::string text = reply.dump(-1);
    ssize_t sent = ::send(found->second->socket.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) drop(id);
}

}  // namespace session
