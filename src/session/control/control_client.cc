// SPDX-License-Identifier: MIT
#include "session/control/control_client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/file.h"
#include "base/format.h"
#include "base/process/pidfd.h"

namespace session {
namespace {

using Clock = std::chrono::steady_clock;

std::string name_of(const Known& known) {
    return "session " + known.id.substr(0, kShortId);
}

base::Error failure(std::string what, std::string advice) {
    return {.what = std::move(what), .advice = std::move(advice), .exit_code = base::ExitCode::check_failed};
}

base::Error unreachable(const Known& known, int number) {
    // The session ended after the caller checked its lock.
    if (number == ENOENT || number == ECONNREFUSED || number == ECONNRESET || number == EPIPE)
        return failure(name_of(known) + " has just ended", "agent-sandbox ps lists those that run");
    if (number == EAGAIN || number == ETIMEDOUT)
        return failure(name_of(known) + " does not answer", "it may be stopped or very busy; try again");
    return failure(base::system_error("reach " + name_of(known), number).what,
                   "agent-sandbox ps lists those that run");
}

// Connects through the directory's descriptor: an address has room for 107 bytes, and a path may be longer.
int connect_in(int socket, const std::string& place) {
    base::Fd directory(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory) return errno;
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::string path = base::format("/proc/self/fd/{}/control", directory.get());
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    if (::connect(socket, reinterpret_cast<const struct sockaddr*>(&address), sizeof address) == 0) return 0;
    return errno;
}

// Zero, or the errno.
int wait_for(int socket, short events, Clock::time_point deadline) {
    for (;;) {
        auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return ETIMEDOUT;
        struct pollfd event = {.fd = socket, .events = events, .revents = 0};
        int ready = ::poll(&event, 1, static_cast<int>(left));
        if (ready > 0) return 0;
        if (ready < 0 && errno != EINTR) return errno;
    }
}

// connect fails with EAGAIN at once while a busy session's queue is full: try until the deadline.
int connect_until(int socket, const std::string& place, Clock::time_point deadline) {
    for (;;) {
        int problem = connect_in(socket, place);
        if (problem != EAGAIN && problem != EINTR) return problem;
        if (Clock::now() >= deadline) return ETIMEDOUT;
        ::usleep(10'000);
    }
}

int exchange(int socket, const std::string& request, Clock::time_point deadline, std::string& reply) {
    for (;;) {
        if (int problem = wait_for(socket, POLLOUT, deadline)) return problem;
        if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) break;
        if (errno != EAGAIN && errno != EINTR) return errno;
    }
    // One byte more than a message may have, so that a longer one is detected.
    reply.resize(kLargestControlMessage + 1);
    for (;;) {
        if (int problem = wait_for(socket, POLLIN, deadline)) return problem;
        ssize_t got = ::recv(socket, reply.data(), reply.size(), MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (got < 0) return errno;
        if (got == 0) return ECONNRESET;
        reply.resize(static_cast<size_t>(got));
        return 0;
    }
}

}  // namespace

base::Result<base::Json> ask_session(const Known& known, const base::Json& request,
                                     std::chrono::milliseconds patience) {
    if (known.state == Known::State::elsewhere) {
        return failure(
            base::format("{} runs on {}", name_of(known), known.metadata.text("host", "another machine")),
            "call agent-sandbox there");
    }
    std::string text = request.dump(-1);
    if (text.size() > kLargestControlMessage)
        return failure("the request is too long", "sessions take 64 KiB");
    base::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return unreachable(known, errno);
    Clock::time_point deadline = Clock::now() + patience;
    if (int problem = connect_until(socket.get(), known.directory, deadline))
        return unreachable(known, problem);
    std::string reply;
    if (int problem = exchange(socket.get(), text, deadline, reply)) return unreachable(known, problem);
    base::Result<base::Json> answer = base::Json::parse(reply);
    if (!answer || !answer->is_object() || reply.size() > kLargestControlMessage) {
        return failure(name_of(known) + " gave an answer that can't be read",
                       "is it of another version of the program?");
    }
    if (answer->truth("ok")) return answer;
    return failure(answer->text("error", "the session refused without a reason"), answer->text("advice"));
}

// A pidfd refers to one process for good: the signal goes to the process that the check after pidfd_open saw.
bool kill_session(const Known& known) {
    int64_t process = known.metadata.number("pid", -1);
    if (known.state != Known::State::running || process <= 0 || process > INT32_MAX) return false;
    base::Fd descriptor = base::open_pidfd(static_cast<pid_t>(process));
    return descriptor && is_process_of(known.metadata) && base::send_signal(descriptor, SIGKILL);
}

}  // namespace session
