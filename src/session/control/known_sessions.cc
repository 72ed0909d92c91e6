// SPDX-License-Identifier: MIT
// Theory of operation. A supervisor makes its directory, takes the lock in it, writes session.json, and holds
// the lock until it has removed the directory. So
//
//   no session.json, made just now        it is starting; do not try the lock, so that it can take it
//   the lock is held                      it lives
//   the lock is free                      no process on this machine owns the directory
//   there are no locks (some NFS)         it lives if the process with this pid and this start time lives
//
// The lock is tried shared and only for an instant, which blocks no other process: the owner has it already,
// and other readers share it. Identifiers are random and never used again. So a dead session stays dead, and
// several processes may remove its directory.
//
// Threat: another program of the user may have put any names and files here. Links, pipes and names that are
// not identifiers are skipped, and nothing is opened for longer than a check
// (tests/session/known_sessions_test.cc).
#include "session/control/known_sessions.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "base/file.h"
#include "base/no_links.h"
#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "session/control/session_directory.h"
#include "session/directories.h"

namespace session {
namespace {

constexpr size_t kIdLength = 32;
constexpr size_t kLargestMetadata = 256u << 10;
constexpr std::time_t kStarting = 10;
constexpr std::time_t kForgotten = std::time_t{7} * 24 * 3600;  // on another machine, which can't be asked
constexpr size_t kMostListed = 8;                               // in a message

bool is_hexadecimal(std::string_view text) {
    return std::ranges::all_of(text, base::is_lower_hex_digit);
}

// ---- This machine

struct Machine {
    std::string host;
    std::string boot;
};

Machine this_machine() {
    Machine machine;
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) == 0) machine.host = name;
    machine.boot = boot_id();
    return machine;
}

bool has_process(const base::Json& metadata, const Machine& machine) {
    int64_t process = metadata.number("pid", -1);
    return process > 0 && process <= INT32_MAX && metadata.text("boot") == machine.boot &&
           metadata.number("start_ticks") > 0 &&
           static_cast<uint64_t>(metadata.number("start_ticks")) == start_ticks_of(static_cast<int>(process));
}

// ---- One directory

base::Fd open_inside(int directory, const char* name) {
    base::Fd file(::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat status;
    if (file && (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))) file.reset();
    return file;
}

enum class Lock { held, free, unknown };

Lock try_lock(int directory) {
    base::Fd lock = open_inside(directory, "lock");
    if (!lock) return Lock::free;
    if (::flock(lock.get(), LOCK_SH | LOCK_NB) == 0) return Lock::free;
    return errno == EWOULDBLOCK ? Lock::held : Lock::unknown;
}

struct Metadata {
    bool is_there = false;
    base::Json content = base::Json::object();
    std::time_t written = 0;
};

Metadata read_metadata(int directory) {
    Metadata metadata;
    base::Fd file = open_inside(directory, "session.json");
    struct stat status;
    if (!file || ::fstat(file.get(), &status) != 0) return metadata;
    metadata.is_there = true;
    metadata.written = status.st_mtim.tv_sec;
    base::Result<std::string> text = base::read_descriptor(file.get(), kLargestMetadata);
    if (!text) return metadata;
    base::Result<base::Json> content = base::Json::parse(*text);
    if (content && content->is_object()) metadata.content = *std::move(content);
    return metadata;
}

enum class Finding { running, elsewhere, starting, dead };

Finding examine(int directory, const Metadata& metadata, const Machine& machine, std::time_t now) {
    struct stat status;
    if (::fstat(directory, &status) != 0) return Finding::starting;
    if (!metadata.is_there && now - status.st_mtim.tv_sec < kStarting) return Finding::starting;
    std::string host = metadata.content.text("host", machine.host);
    Lock lock = try_lock(directory);
    if (host != machine.host) {
        // A free lock proves nothing if each machine has its own locks.
        bool is_forgotten = lock != Lock::held && now - metadata.written > kForgotten;
        return is_forgotten ? Finding::dead : Finding::elsewhere;
    }
    if (lock == Lock::unknown)
        return has_process(metadata.content, machine) ? Finding::running : Finding::dead;
    if (lock == Lock::free) return Finding::dead;
    return metadata.is_there ? Finding::running : Finding::starting;
}

base::Fd open_sessions(const std::string& root) {
    base::Fd directory(::open((root + "/sessions").c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;
    bool is_ours = directory && ::fstat(directory.get(), &status) == 0 && status.st_uid == ::geteuid() &&
                   (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    return is_ours ? std::move(directory) : base::Fd();
}

void add_sessions_of(const std::string& place, DeadSessions dead, std::vector<Known>& found) {
    base::Fd sessions = open_sessions(place);
    if (!sessions) return;
    std::vector<std::string> names;
    base::visit_entries(sessions.get(), [&](const struct dirent64& entry) {
        std::string_view name = entry.d_name;
        if (name.size() == kIdLength && is_hexadecimal(name)) names.emplace_back(name);
        return true;
    });
    if (names.empty()) return;
    const Machine machine = this_machine();
    const std::time_t now = ::time(nullptr);
    for (std::string& name : names) {
        base::Fd directory(
            ::openat(sessions.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!directory) continue;
        Metadata metadata = read_metadata(directory.get());
        Finding finding = examine(directory.get(), metadata, machine, now);
        if (finding == Finding::dead && dead == DeadSessions::remove)
            base::remove_tree(base::format("/proc/self/fd/{}/{}", sessions.get(), name));
        if (finding == Finding::dead || finding == Finding::starting) continue;
        found.push_back(
            {.id = name,
             .directory = session_directory_path(place, name),
             .metadata = std::move(metadata.content),
             .state = finding == Finding::elsewhere ? Known::State::elsewhere : Known::State::running});
    }
}

std::string listed(const std::vector<const Known*>& sessions) {
    std::vector<std::string> texts;
    for (const Known* known : sessions) {
        if (texts.size() == kMostListed) {
            texts.emplace_back("…");
            break;
        }
        std::string text = known->id.substr(0, kShortId);
        const base::Json::Array& command = known->metadata.items("command");
        if (!command.empty() && command[0].as_text()) text += base::format(" ({})", *command[0].as_text());
        texts.push_back(std::move(text));
    }
    return base::join(texts, ", ");
}

base::Error not_found(std::string what, std::string advice) {
    return {.what = std::move(what), .advice = std::move(advice), .exit_code = base::ExitCode::check_failed};
}

}  // namespace

bool is_process_of(const base::Json& metadata) {
    return has_process(metadata, this_machine());
}

std::vector<Known> known_sessions(const std::vector<std::string>& places, DeadSessions dead) {
    std::vector<Known> found;
    for (const std::string& place : places) add_sessions_of(place, dead, found);
    std::ranges::sort(found, [](const Known& one, const Known& other) {
        std::string its = one.metadata.text("started"), others = other.metadata.text("started");
        return its != others ? its > others : one.id < other.id;
    });
    return found;
}

base::Result<Known> find_among(const std::vector<Known>& sessions, std::string_view text) {
    constexpr std::string_view kList = "agent-sandbox ps lists them";
    std::vector<const Known*> matching;
    for (const Known& known : sessions) {
        bool is_meant = text.empty() ? known.state == Known::State::running : known.id.starts_with(text);
        if (is_meant) matching.push_back(&known);
    }
    if (text.empty()) {
        if (matching.empty())
            return not_found("no session is running", "start one in another terminal: agent-sandbox COMMAND");
        if (matching.size() > 1) {
            return not_found("several sessions are running: " + listed(matching), "name one of them");
        }
        return *matching[0];
    }
    std::string shown(text.substr(0, kIdLength + 8));
    if (text.size() < kShortestPrefix || text.size() > kIdLength || !is_hexadecimal(text)) {
        return base::Error{.what = base::format("'{}' is not a session", shown),
                           .advice = "write the first digits of its id, four or more; " + std::string(kList),
                           .exit_code = base::ExitCode::usage};
    }
    if (matching.empty()) return not_found("there is no session " + shown, std::string(kList));
    if (matching.size() > 1)
        return not_found(base::format("several sessions begin with {}: {}", shown, listed(matching)),
                         "write more digits");
    return *matching[0];
}

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

// connect fails with EAGAIN at once while a busy session's queue is full: try until the deadline.
int connect_until(int socket, const std::string& place, Clock::time_point deadline) {
    for (;;) {
        int problem = connect_in(socket, place);
        if (problem != EAGAIN && problem != EINTR) return problem;
        if (Clock::now() >= deadline) return ETIMEDOUT;
        ::usleep(10'000);
    }
}

// A session that refuses the caller replies and closes the connection before it reads: the reply is there
// although the request could not be sent, or was not read.
bool is_closed(int problem) {
    return problem == EPIPE || problem == ECONNRESET;
}

int exchange(int socket, const std::string& request, Clock::time_point deadline, std::string& reply) {
    for (;;) {
        if (base::await_events(socket, POLLOUT, deadline) == 0) return errno;
        if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) break;
        if (is_closed(errno)) break;
        if (errno != EAGAIN && errno != EINTR) return errno;
    }
    // One byte more than a message may have, so that a longer one is detected.
    reply.resize(kLargestControlMessage + 1);
    for (bool was_closed = false;;) {
        if (base::await_events(socket, POLLIN, deadline) == 0) return errno;
        ssize_t got = ::recv(socket, reply.data(), reply.size(), MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        // The kernel returns the error before the reply.
        if (got < 0 && is_closed(errno) && !std::exchange(was_closed, true)) continue;
        if (got < 0) return errno;
        if (got == 0) return ECONNRESET;
        reply.resize(static_cast<size_t>(got));
        return 0;
    }
}

base::Result<base::Fd> connect_by(const Known& known, Clock::time_point deadline) {
    if (known.state == Known::State::elsewhere) {
        return failure(
            base::format("{} runs on {}", name_of(known), known.metadata.text("host", "another machine")),
            "call agent-sandbox there");
    }
    base::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return unreachable(known, errno);
    if (int problem = connect_until(socket.get(), known.directory, deadline))
        return unreachable(known, problem);
    return socket;
}

}  // namespace

base::Result<base::Fd> connect_to_session(const Known& known, std::chrono::milliseconds patience) {
    return connect_by(known, Clock::now() + patience);
}

base::Error has_ended(const Known& known) {
    return unreachable(known, ECONNRESET);
}

base::Result<base::Json> ask_session(const Known& known, const base::Json& request,
                                     std::chrono::milliseconds patience) {
    std::string text = request.dump(-1);
    if (text.size() > kLargestControlMessage)
        return failure("the request is too long", "sessions take 64 KiB");
    Clock::time_point deadline = Clock::now() + patience;
    base::Result<base::Fd> socket = connect_by(known, deadline);
    if (!socket) return socket.error();
    std::string reply;
    if (int problem = exchange(socket->get(), text, deadline, reply)) return unreachable(known, problem);
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
