// SPDX-License-Identifier: MIT
#include "doorman/doorman.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <vector>

#include "base/process/descriptors.h"
#include "doorman/answered_calls.h"
#include "doorman/answers/abstract_names.h"
#include "doorman/answers/renames.h"
#include "doorman/caller.h"
#include "doorman/filter.h"
#include "doorman/objects.h"
#include "doorman/sockets.h"

namespace doorman {
namespace {

// ioctl(TIOCSWINSZ): refused for the session's own terminal, executed for every other terminal.

// Theory of operation. The kernel can't tell a resize by the terminal emulator from one by the command: both
// set the same numbers and send the same signal. So the command's own are refused. The device number of a
// descriptor does not identify the terminal: /dev/tty is a different one in each session, and numbers of
// pseudo-terminals are unique only within one devpts, of which the jail has its own. But a process may read
// the session id of its controlling terminal and of no other terminal (TIOCGSID). This process is in the
// session of the terminal that it protects.

bool is_size(const struct winsize& one, const struct winsize& other) {
    return one.ws_row == other.ws_row && one.ws_col == other.ws_col && one.ws_xpixel == other.ws_xpixel &&
           one.ws_ypixel == other.ws_ypixel;
}

// Threat: with a file of a FUSE file system, this process would wait for the FUSE server of the jail. These
// flags send no request to the file system.
bool is_device(int descriptor) {
    struct statx status = {};
    int returned =
        ::statx(descriptor, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &status);
    return returned == 0 && S_ISCHR(status.stx_mode);
}

// TIOCGSID on a master works for every session. Only the terminal emulator has the master of our terminal.
bool is_master(int terminal) {
    unsigned number = 0;
    return ::ioctl(terminal, TIOCGPTN, &number) == 0;
}

// /dev/tty and /dev/console: another name of a terminal.
bool is_alternate(dev_t device) {
    constexpr unsigned kAlternateTerminals = 5;
    return major(device) == kAlternateTerminals;
}
constexpr unsigned kPseudoTerminals = 136;

bool is_our_own(int terminal) {
    pid_t session = 0;
    return !is_master(terminal) && ::ioctl(terminal, TIOCGSID, &session) == 0;
}

// Threat: `exec` passes in a terminal of its client, or one that it makes. It belongs to another session than
// this process (tests/jail/exec_terminal.bats: a terminal that is passed in …). Where the jail has a devpts
// of its own, its own terminals are there. The stage, which starts the commands of `exec`, remembers the
// terminals.
bool is_passed_in(const Caller& caller, int terminal, const Hooks& hooks) {
    struct stat own = {}, status = {};
    if (is_master(terminal) || ::fstat(terminal, &status) != 0) return false;
    if (hooks.is_passed_terminal && hooks.is_passed_terminal(terminal)) return true;
    if (is_alternate(status.st_rdev)) {
        unsigned device = 0;
        if (::ioctl(terminal, TIOCGDEV, &device) != 0 || major(device) != kPseudoTerminals) return false;
        const std::string place = caller.file("root/dev/pts/") + std::to_string(minor(device));
        return ::stat(place.c_str(), &own) != 0 && errno == ENOENT;
    }
    return ::stat(caller.file("root/dev/pts").c_str(), &own) == 0 && own.st_dev != status.st_dev;
}

Answer answer_terminal_size(const Caller& caller, const Hooks& hooks) {
    base::Fd terminal;
    if (int number = caller.take_descriptor(caller.number(0), terminal); number != 0)
        return Answer::of(number);
    struct winsize wanted = {}, current = {};
    if (!is_device(terminal.get())) return Answer::of(ENOTTY);
    if (::ioctl(terminal.get(), TIOCGWINSZ, &current) != 0) return Answer::of(errno);
    if (int number = caller.read_memory(caller.argument(2), &wanted, sizeof wanted); number != 0)
        return Answer::of(number);
    if (!caller.is_waiting()) return Answer::of(EINTR);
    // Some programs set the current size again; readline does so before each line.
    if (is_size(wanted, current)) return Answer::of(0);
    if (is_our_own(terminal.get()) || is_passed_in(caller, terminal.get(), hooks)) return Answer::of(EPERM);
    return Answer::of(::ioctl(terminal.get(), TIOCSWINSZ, &wanted) == 0 ? 0 : errno);
}

// Threat: the flags of clone() are an argument, but an answer that lets the kernel execute the call would be
// wrong for every one of them. So the answer never depends on the caller (tests/doorman/namespaces_test.cc).
Answer refuse_namespaces(const Caller& caller, const Hooks& hooks) {
    char target[PATH_MAX];
    ssize_t length =
        hooks.on_refused_namespaces ? ::readlink(caller.file("exe").c_str(), target, sizeof target) : -1;
    // Only now it is certain that the pid belonged to the caller.
    if (length > 0 && caller.is_waiting()) {
        std::string_view program(target, static_cast<size_t>(length));
        constexpr std::string_view kRemoved = " (deleted)";
        if (program.ends_with(kRemoved)) program.remove_suffix(kRemoved.size());
        program.remove_prefix(program.rfind('/') + 1);
        if (!program.empty()) hooks.on_refused_namespaces(std::string(program));
    }
    return Answer::of(EPERM);
}

// The size that this kernel asks for; a newer kernel may have more fields.
template <typename T>
class Message {
  public:
    explicit Message(size_t size)
        : bytes_((std::max(size, sizeof(T)) + sizeof(uint64_t) - 1) / sizeof(uint64_t)) {}
    T& get() { return *reinterpret_cast<T*>(bytes_.data()); }
    void clear() { std::ranges::fill(bytes_, 0); }

  private:
    std::vector<uint64_t> bytes_;
};

struct seccomp_notif_sizes message_sizes() {
    struct seccomp_notif_sizes sizes = {};
    ::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
    return sizes;
}

Answer judge(const Caller& caller, const Sockets& sockets, const Hooks& hooks) {
    if (caller.call() == kRename) return answer_rename(caller, hooks);
    if (caller.call() == kUnlink || caller.call() == kRmdir) return answer_removal(caller, hooks);
    switch (caller.call()) {
        case SYS_ioctl:
            return answer_terminal_size(caller, hooks);
        case SYS_renameat:
        case SYS_renameat2:
            return answer_rename(caller, hooks);
        case SYS_unlinkat:
            return answer_removal(caller, hooks);
        case SYS_clone:
        case SYS_unshare:
            return refuse_namespaces(caller, hooks);
        case SYS_socket:
        case SYS_socketpair:
            return answer_socket(caller, sockets.calls.socket_factory);
        case SYS_bind:
            return answer_bind(caller, sockets.calls, hooks);
        case SYS_connect:
            return answer_connect(caller, sockets);
        case SYS_listen:
            return answer_listen(caller);
        case SYS_prlimit64:
        case SYS_sched_setaffinity:
        case SYS_sched_setscheduler:
        case SYS_sched_setparam:
        case SYS_sched_setattr:
        case SYS_setpriority:
        case SYS_ioprio_set:
        case SYS_migrate_pages:
        case SYS_move_pages:
        case SYS_kill:
        case SYS_tkill:
        case SYS_tgkill:
        case SYS_rt_sigqueueinfo:
        case SYS_rt_tgsigqueueinfo:
        case kPidfdSendSignal:
            return answer_for_process(caller);
        default:
            return answer_attributes(caller, sockets.calls);
    }
}

}  // namespace

struct Doorman::State {
    State(const AnsweredCalls& wanted, base::Fd fd, Hooks all)
        : calls(wanted),
          hooks(std::move(all)),
          listener(std::move(fd)),
          gate(::epoll_create1(EPOLL_CLOEXEC)),
          waiting_room(gate.get()),
          sizes(message_sizes()),
          notice(sizes.seccomp_notif),
          response(sizes.seccomp_notif_resp) {}

    bool receive() {
        int returned = 0;
        do {
            notice.clear();  // the kernel refuses a buffer that is not zero
            returned = ::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_RECV, &notice.get());
        } while (returned != 0 && errno == EINTR);
        return returned == 0;  // ENOENT: the caller has ended
    }

    void send(uint64_t id, Answer answer) {
        if (answer.kind == Answer::Kind::postponed) return;
        response.clear();
        struct seccomp_notif_resp& said = response.get();
        said.id = id;
        said.val = answer.error == 0 ? answer.value : 0;
        said.error = -answer.error;
        if (answer.kind == Answer::Kind::proceeds) said.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        int returned = 0;
        do {
            returned = ::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &said);
        } while (returned != 0 && errno == EINTR);
    }

    bool is_waiting(uint64_t id) const {
        return ::ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
    }

    const AnsweredCalls& calls;
    Hooks hooks;
    base::Fd listener;
    base::Fd gate;
    WaitingRoom waiting_room;
    struct seccomp_notif_sizes sizes;
    Message<struct seccomp_notif> notice;
    Message<struct seccomp_notif_resp> response;
};

Doorman::Doorman(const AnsweredCalls& calls, base::Fd listener, Hooks hooks)
    : state_(std::make_unique<State>(calls, std::move(listener), std::move(hooks))) {
    struct epoll_event event = {.events = EPOLLIN, .data = {}};
    ::epoll_ctl(state_->gate.get(), EPOLL_CTL_ADD, state_->listener.get(), &event);
    // Linux 6.6: caller and answer take turns on one processor, which is faster. Older kernels refuse it.
    constexpr unsigned long kSetFlags = 0x40082104;  // SECCOMP_IOCTL_NOTIF_SET_FLAGS
    constexpr uint64_t kTakeTurns = 1;               // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
    ::ioctl(state_->listener.get(), kSetFlags, kTakeTurns);
    // A slow gateway must not block the stage.
    if (calls.gateway >= 0) ::fcntl(calls.gateway, F_SETFL, ::fcntl(calls.gateway, F_GETFL) | O_NONBLOCK);
}

Doorman::~Doorman() = default;

int Doorman::events() const {
    return state_->listener ? state_->gate.get() : -1;
}

void Doorman::answer() {
    State& state = *state_;
    if (!state.listener) return;
    state.waiting_room.review([&](uint64_t id) { return state.is_waiting(id); },
                              [&](uint64_t id, Answer answer) { state.send(id, answer); });
    const short ready = base::ready_events(state.listener.get(), POLLIN);
    if (ready == 0) return;
    if (!(ready & POLLIN)) {
        state.listener.reset();  // no process is left behind the filter
        return;
    }
    if (!state.receive()) return;
    struct seccomp_notif& notice = state.notice.get();
    Caller caller(state.listener.get(), notice);
    Sockets sockets{state.calls, state.listener.get(), state.waiting_room};
    state.send(notice.id, judge(caller, sockets, state.hooks));
}

std::optional<Answer> judge_outside(int listener, const struct seccomp_notif& notice,
                                    const AnsweredCalls& calls) {
    Caller caller(listener, notice);
    switch (caller.call()) {
        case SYS_ioctl:
            if (!calls.guards_terminal_size || static_cast<uint32_t>(caller.argument(1)) != TIOCSWINSZ)
                return std::nullopt;
            return answer_terminal_size(caller, {});
        case SYS_socket:
        case SYS_socketpair:
            if (calls.abstract_names != AbstractNames::apart || caller.number(0) != AF_UNIX)
                return std::nullopt;
            return answer_socket(caller, calls.socket_factory);
        default:
            return std::nullopt;
    }
}

namespace {

// SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, Linux 5.19: after the notification is received, only a deadly
// signal ends the wait. Without it, a signal with a handler makes the kernel notify again, although the call
// may have been executed already.
constexpr unsigned kWaitsPatiently = 1u << 5;

constexpr unsigned kListens = SECCOMP_FILTER_FLAG_NEW_LISTENER;

// Returns the listener, 0 if none was asked for, or a negative errno.
int install_rows(std::span<const Row> rows, unsigned listens) {
    std::vector<sock_filter> filter = compile(rows);
    sock_fprog program = {.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
    // Without SPEC_ALLOW, kernels before 5.16 make every program slower (seccomp/filter.cc).
    for (unsigned more : {kWaitsPatiently | unsigned{SECCOMP_FILTER_FLAG_SPEC_ALLOW},
                          unsigned{SECCOMP_FILTER_FLAG_SPEC_ALLOW}, 0u}) {
        if (listens == 0) more &= ~kWaitsPatiently;
        long listener = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, listens | more, &program);
        if (listener >= 0 && listens == 0) return 0;
        // Threat: a process inside that holds it answers its own calls. The kernel makes it so that exec
        // closes it; set once more because everything depends on it (tests/doorman/filter_test.cc).
        if (listener >= 0) ::fcntl(static_cast<int>(listener), F_SETFD, FD_CLOEXEC);
        if (listener >= 0) return static_cast<int>(listener);
        if (errno != EINVAL) break;
    }
    return -errno;
}

// A process behind a filter that notifies; any call will do.
[[noreturn]] void stand_behind_filter(int channel) {
    const Row row{.call = SYS_getppid, .tests = {}, .verdict = SECCOMP_RET_USER_NOTIF};
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int listener = install_rows(std::span(&row, 1), kListens);
    if (listener < 0) ::_exit(1);
    // It fails if the user has too many descriptors in queues of sockets.
    if (!base::send_descriptors(channel, "listener", std::span(&listener, 1))) ::_exit(1);
    base::await_events(channel, 0, std::chrono::milliseconds(-1));
    ::_exit(0);
}

// `secret` has the same address in both processes.
bool can_look_at(pid_t child, int its_channel, const int& secret) {
    int seen = 0;
    struct iovec here = {&seen, sizeof seen};
    struct iovec there = {const_cast<int*>(&secret), sizeof secret};
    if (::process_vm_readv(child, &here, 1, &there, 1, 0) != sizeof seen || seen != secret) return false;
    base::Fd process(static_cast<int>(::syscall(kPidfdOpen, child, 0)));
    return bool(base::Fd(static_cast<int>(::syscall(kPidfdGetfd, process.get(), its_channel, 0))));
}

}  // namespace

std::vector<sock_filter> program_for(const AnsweredCalls& calls) {
    return compile(rows_for(calls));
}

int install(const AnsweredCalls& calls) {
    return install_rows(rows_for(calls), kListens);
}

int install_refusals(const AnsweredCalls& calls) {
    return -install_rows(rows_for(calls), 0);
}

// An administrator may have forbidden it (kernel.yama.ptrace_scope above 1), or a filter around us.
bool is_possible() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
    base::Fd ours(ends[0]), theirs(ends[1]);
    const int secret = static_cast<int>(::getpid());
    pid_t child = ::fork();
    if (child < 0) return false;
    if (child == 0) {
        ours.reset();
        stand_behind_filter(theirs.get());
    }
    int its_channel = theirs.get();
    theirs.reset();
    base::Result<base::PassedDescriptors> passed = base::receive_descriptors(ours.get());
    bool is_so = passed && passed->descriptors.size() == 1 && can_look_at(child, its_channel, secret);
    ::kill(child, SIGKILL);
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return is_so;
}

}  // namespace doorman
