// SPDX-License-Identifier: MIT
// Theory of operation. bind() reads its address from memory, which another thread can change at any moment: a
// path at the time of the check is an abstract name when the kernel reads it. So a checked bind() must not be
// left to the kernel (tests/doorman/abstract_names_test.cc).
//
//   apart      Answers socket() and socketpair(), whose arguments are plain numbers. The new socket belongs
//   to
//              another network namespace for good. The kernel executes all later calls; the names that they
//              bind, autobind included, exist only in that namespace.
//   refused    Answers bind(). The stage binds the caller's socket to a copy of the address. For a path, a
//   child
//              of the stage does it: the child first enters the caller's wall, and takes the caller's working
//              directory and umask.
//
// With an empty address the kernel chooses one of a million names (autobind). That is allowed: no program
// outside looks for such a name, and the kernel also does it by itself for a socket with SO_PASSCRED.
#include "doorman/answers/abstract_names.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <type_traits>

#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "doorman/objects.h"
#include "doorman/sockets.h"

namespace doorman {

// Theory of operation. A socket stays in the network namespace of the process that made it. The process that
// answers calls of the jail can't enter another network namespace: that needs another user namespace, from
// which it has no power over the jail. So it sends requests to this process, over a pair of sockets:
//
//   client                                  factory
//   sends a number and the arguments →      calls socket(2) or socketpair(2)
//   receives the descriptors         ←      sends the number, an errno and the descriptors
//
// On a busy machine an answer may be late. Only its own call fails then: the client drops an answer with the
// number of an earlier request.

namespace {

// A client that waits answers no other call and covers no name meanwhile.
constexpr std::chrono::milliseconds kLongestWait{2000};
// For a factory that has not received an earlier request yet.
constexpr std::chrono::milliseconds kLongestWaitForOverdue{100};
constexpr std::chrono::milliseconds kBetweenLooks{2};

struct NumberedRequest {
    uint64_t number = 0;
    SocketRequest request;
};

struct SocketAnswer {
    uint64_t number = 0;
    int64_t error = 0;  // an errno
};

template <typename T>
std::string_view bytes_of(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <typename T>
bool take(std::string_view note, T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (note.size() != sizeof value) return false;
    std::memcpy(&value, note.data(), sizeof value);
    return true;
}

int make(const SocketRequest& request, base::Fd (&made)[2]) {
    int type = request.type | SOCK_CLOEXEC;
    if (!request.is_pair) {
        made[0] = base::Fd(::socket(AF_UNIX, type, request.protocol));
        return made[0] ? 0 : errno;
    }
    int ends[2];
    if (::socketpair(AF_UNIX, type, request.protocol, ends) != 0) return errno;
    made[0] = base::Fd(ends[0]);
    made[1] = base::Fd(ends[1]);
    return 0;
}

}  // namespace

int leave_network(const std::vector<int>& spaces) {
    if (spaces.empty()) return ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 ? 0 : errno;
    for (int space : spaces) {
        if (::setns(space, 0) != 0) return errno;
    }
    return 0;
}

void serve_sockets(int channel) {
    for (;;) {
        base::Result<base::PassedDescriptors> asked = base::receive_descriptors(channel);
        NumberedRequest wanted;
        if (!asked || !take(asked->note, wanted)) return;
        base::Fd made[2];
        SocketAnswer answer{.number = wanted.number, .error = make(wanted.request, made)};
        const int passed[] = {made[0].get(), made[1].get()};
        size_t count = (made[0] ? 1u : 0u) + (made[1] ? 1u : 0u);
        if (base::send_descriptors(channel, bytes_of(answer), std::span(passed).first(count))) continue;
        // The user has too many descriptors in queues of sockets (ETOOMANYREFS), which may change.
        answer.error = EMFILE;
        if (!base::send_descriptors(channel, bytes_of(answer), {})) return;
    }
}

namespace {

// Bytes that we sent and the factory has not received yet.
bool is_overdue(int channel) {
    int bytes = 0;
    return ::ioctl(channel, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

}  // namespace

int make_sockets(int channel, const SocketRequest& request, std::vector<base::Fd>& made) {
    static uint64_t last = 0;
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    // Requests to a stopped factory do not pile up: its queue would fill, and block the client.
    while (is_overdue(channel)) {
        if (Clock::now() - begin >= kLongestWaitForOverdue) return EAGAIN;
        std::this_thread::sleep_for(kBetweenLooks);
    }
    const NumberedRequest wanted{.number = ++last, .request = request};
    if (!base::send_descriptors(channel, bytes_of(wanted), {})) return EACCES;
    for (;;) {
        if (base::await_events(channel, POLLIN, begin + kLongestWait) == 0) return EAGAIN;
        base::Result<base::PassedDescriptors> got = base::receive_descriptors(channel);
        SocketAnswer answer;
        if (!got || !take(got->note, answer)) return EACCES;
        if (answer.number != wanted.number) continue;
        made = std::move(got->descriptors);
        if (answer.error == 0 && made.size() != (request.is_pair ? 2u : 1u)) return EACCES;
        return static_cast<int>(answer.error);
    }
}

namespace {

// ---- apart

// A caller in a network namespace that the jail made (isolation.allow_nested_namespaces) keeps using it.
// While the call waits, no other thread can move the caller to another namespace.
bool shares_our_network(const Caller& caller) {
    struct stat its, ours;
    bool is_known =
        ::stat(caller.file("ns/net").c_str(), &its) == 0 && ::stat("/proc/self/ns/net", &ours) == 0;
    return !is_known || its.st_ino == ours.st_ino;
}

// Writes to the caller's memory first, so that bad memory leaves no descriptors in the caller. If the caller
// has room for one descriptor only, that one stays: the kernel has no call that takes it back.
Answer give_pair(const Caller& caller, const std::vector<base::Fd>& made, bool closes_on_exec) {
    constexpr int kNumbers = 3;
    int given[2] = {-1, -1};
    if (int number = caller.write_memory(caller.argument(kNumbers), given, sizeof given); number != 0)
        return Answer::of(number);
    for (size_t i = 0; i < 2; ++i) {
        given[i] = caller.give_descriptor(made[i].get(), closes_on_exec);
        if (given[i] < 0) return Answer::of(-given[i]);
    }
    return Answer::of(caller.write_memory(caller.argument(kNumbers), given, sizeof given));
}

Answer give_one(const Caller& caller, const base::Fd& made, bool closes_on_exec) {
    int given = caller.give_descriptor(made.get(), closes_on_exec, Caller::kReturned);
    if (given >= 0) return Answer::later();  // the call has returned
    if (given == -EINVAL) given = caller.give_descriptor(made.get(), closes_on_exec);
    return given < 0 ? Answer::of(-given) : Answer::of_value(given);
}

// ---- refused

// "@" for each NUL, as in ss(8). Most programs pass trailing zeros.
std::string shown(std::string name) {
    name.erase(name.find_last_not_of('\0') + 1);
    std::ranges::replace(name, '\0', '@');
    return base::printable(name.starts_with('@') ? name : "@" + name);
}

// -1: not readable.
int umask_of(const Caller& caller) {
    base::Result<std::string> text = base::read_file(caller.file("status"), 1u << 16);
    size_t found = text ? text->find("\nUmask:") : std::string::npos;
    constexpr int kOctal = 8;
    if (found == std::string::npos) return -1;
    std::string_view digits = base::trim(std::string_view(*text).substr(found + 7));
    return base::leading_number<int>(digits, kOctal).value_or(0) & 0777;
}

// The parts of the calling process that bind() uses: working directory, umask, and a descriptor in the path.
struct Context {
    base::Fd directory;
    int mask = 0;
    int number = -1;  // of "/proc/self/fd/NUMBER/…", with its descriptor; -1: another path
    base::Fd descriptor;
};

int take_context(const Caller& caller, const Address& address, Context& context) {
    context.directory = base::Fd(::open(caller.file("cwd").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!context.directory) return errno;
    context.mask = umask_of(caller);
    if (context.mask < 0) return EACCES;
    const char* begin = reinterpret_cast<const char*>(&address.room) + kPathOffset;
    std::string path(begin, ::strnlen(begin, address.length - kPathOffset));
    context.number = own_descriptor(caller, path).value_or(-1);
    if (context.number < 0) return 0;
    int number = caller.take_descriptor(context.number, context.descriptor);
    return number == EBADF ? ENOENT : number;
}

// Runs in a child of the stage.
int bind_as_caller(int socket, const Address& address, const Context& context,
                   const std::function<int()>& enter_wall) {
    if (int number = enter_wall ? enter_wall() : 0; number != 0) return number;
    if (::fchdir(context.directory.get()) != 0) return errno;
    ::umask(static_cast<mode_t>(context.mask));
    // A path through /proc/self must not find descriptors of the stage.
    int kept = ::fcntl(socket, F_DUPFD_CLOEXEC, context.number + 1);
    if (kept < 0) return errno;
    if (context.number >= 0 && ::dup2(context.descriptor.get(), context.number) < 0) return errno;
    base::close_others({kept, context.number});
    return ::bind(kept, &address.any, address.length) == 0 ? 0 : errno;
}

// Threat: the stage is outside the Landlock wall, which restricts where a socket can be made, and a checked
// path may lead to another place a moment later. So a child behind the same wall binds, and the kernel
// checks. The address stays the caller's, for getsockname(2).
int bind_path(const Caller& caller, int socket, const Address& address,
              const std::function<int()>& enter_wall) {
    Context context;
    if (int number = take_context(caller, address, context); number != 0) return number;
    if (!caller.is_waiting()) return EINTR;
    pid_t child = ::fork();
    if (child < 0) return errno;
    if (child == 0) ::_exit(bind_as_caller(socket, address, context, enter_wall));
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return EACCES;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EACCES;
}

Answer bind_unix(const Caller& caller, int socket, const Address& address, const Hooks& hooks) {
    if (address.length < kPathOffset || address.length > sizeof(struct sockaddr_un) ||
        address.family() != AF_UNIX)
        return Answer::of(EINVAL);
    const char* begin = reinterpret_cast<const char*>(&address.room) + kPathOffset;
    std::string name(begin, address.length - kPathOffset);
    if (name.empty())
        return Answer::of(::bind(socket, &address.any, static_cast<socklen_t>(kPathOffset)) == 0 ? 0 : errno);
    if (name.front() == '\0') {
        if (hooks.on_refused_name) hooks.on_refused_name(shown(std::move(name)));
        return Answer::of(EACCES);
    }
    return Answer::of(bind_path(caller, socket, address, hooks.enter_wall));
}

}  // namespace

Answer answer_socket(const Caller& caller, int factory) {
    if (!shares_our_network(caller)) return Answer::proceed();
    bool is_pair = caller.call() == SYS_socketpair;
    bool closes_on_exec = (caller.number(1) & SOCK_CLOEXEC) != 0;
    std::vector<base::Fd> made;
    int number = make_sockets(
        factory, {.type = caller.number(1), .protocol = caller.number(2), .is_pair = is_pair}, made);
    if (number != 0) return Answer::of(number);
    return is_pair ? give_pair(caller, made, closes_on_exec) : give_one(caller, made[0], closes_on_exec);
}

Answer answer_bind(const Caller& caller, const AnsweredCalls& calls, const Hooks& hooks) {
    base::Fd socket;
    int family = -1;
    Address address;
    if (int number = take_socket_and_address(caller, socket, family, address); number != 0)
        return Answer::of(number);
    if (family == AF_UNIX) return bind_unix(caller, socket.get(), address, hooks);
    // As Landlock does since ABI 4. Only TCP sockets can be made in these modes.
    if (is_internet(family) && calls.internet != Internet::host) return Answer::of(EACCES);
    return Answer::of(::bind(socket.get(), &address.any, address.length) == 0 ? 0 : errno);
}

}  // namespace doorman
