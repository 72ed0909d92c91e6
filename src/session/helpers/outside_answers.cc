// SPDX-License-Identifier: MIT
#include "session/helpers/outside_answers.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>

#include "base/file.h"
#include "base/process/descriptors.h"
#include "base/process/own_process.h"
#include "doorman/answers/abstract_names.h"
#include "inner/preparation.h"
#include "plan/backend.h"
#include "seccomp/allow_list.h"
#include "session/helpers/detach_helper.h"
#include "tracer/tracer.h"

namespace session {
namespace {

// These arguments have no effect.
bool can_write_memory() {
    return ::process_vm_writev(::getpid(), nullptr, 0, nullptr, 0, 0) == 0;
}

bool wants_own_sockets(const plan::Plan& plan) {
    return plan.network.reached == policy::NetworkMode::open &&
           plan.network.abstract_sockets == plan::AbstractSockets::inside;
}

base::Error factory_error(int number) {
    base::Error error =
        base::system_error("make a network namespace for the Unix sockets of the jail", number);
    error.advice = "use another network mode; 'agent-sandbox doctor' says what this machine can do";
    return error;
}

// Sends one number when it is ready: zero, or an errno.
[[noreturn]] void run_factory(int channel, const std::vector<int>& spaces, pid_t supervisor) {
    base::forget_environment();
    int number = doorman::leave_network(spaces);
    if (number == 0) number = inner::give_up_privileges();
    // Changing credentials clears this.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != supervisor) ::_exit(0);
    if (number == 0) number = seccomp::forbid_execution_by_name();
    (void)!::send(channel, &number, sizeof number, MSG_NOSIGNAL);
    if (number == 0) doorman::serve_sockets(channel);
    ::_exit(0);
}

}  // namespace

// These arguments have no effect.
bool can_take_descriptors() {
    constexpr int kPidfdGetfd = 438;
    return ::syscall(kPidfdGetfd, -1, 0, 0) < 0 && errno == EBADF;
}

doorman::AnsweredCalls outside_answers(const plan::Plan& plan, const host::Facts& facts, bool has_terminal) {
    const plan::BackendTraits& backend = plan::traits_of(plan.backend);
    // In a traced jail the tracer has the listener, with every backend.
    bool is_possible = plan.trace.is_wanted() || !plan::outside_answers_obstacle(backend, facts);
    if (!is_possible) return {};
    bool is_apart = wants_own_sockets(plan) && can_write_memory();
    // The plan has no spare files in a traced jail. Taking a descriptor is needed for renameat().
    bool judges_renames = plan.judges_git_config && can_take_descriptors();
    // The tracer can't answer these calls; it records them with --trace-syscalls.
    bool refuses_namespaces = !plan.trace.is_wanted() && !plan.system_calls.allow_nested_namespaces;
    // A session without a terminal may get one with `exec`. A listener for that alone is not worth its cost.
    bool has_others = is_apart || judges_renames || refuses_namespaces;
    bool guards_size = (has_terminal || has_others) && can_take_descriptors();
    if (!is_apart && !guards_size && !judges_renames && !refuses_namespaces) return {};
    return {.is_wanted = true,
            .is_outside = true,
            .abstract_names = is_apart ? doorman::AbstractNames::apart : doorman::AbstractNames::shared,
            .guards_terminal_size = guards_size,
            .judges_renames = judges_renames,
            .judges_removals = judges_renames && plan.removes_worktrees,
            .refuses_namespaces = refuses_namespaces};
}

void tell_shared_sockets(const plan::Plan& plan, const doorman::AnsweredCalls& answers, bool has_listener) {
    bool is_apart =
        answers.abstract_names == doorman::AbstractNames::apart && (has_listener || plan.trace.is_wanted());
    if (!wants_own_sockets(plan) || is_apart) return;
    (void)base::write_all(STDERR_FILENO,
                          "agent-sandbox: programs outside can connect to abstract Unix sockets of the "
                          "command: a jail or a container around this session answers or refuses the system "
                          "calls for it; the other network modes keep these sockets inside\n");
}

SocketFactory::~SocketFactory() {
    channel_.reset();
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
}

base::Status SocketFactory::start(doorman::AnsweredCalls& answers, const std::vector<int>& spaces) {
    if (answers.abstract_names != doorman::AbstractNames::apart) return base::success();
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return base::system_error("make a socket", errno);
    channel_ = base::Fd(ends[0]);
    answers.socket_factory = ends[0];
    base::Fd theirs(ends[1]);
    pid_t supervisor = ::getpid();
    process_ = ::fork();
    if (process_ < 0) return base::system_error("start the process that makes Unix sockets", errno);
    if (process_ > 0) return base::success();
    channel_.release();
    std::vector<int> kept = spaces;
    kept.push_back(theirs.get());
    step_aside(supervisor, "asb-sockets", std::move(kept));
    run_factory(theirs.get(), spaces, supervisor);
}

void SocketFactory::tell_if_lost(bool is_keeper_lost) {
    if (process_ <= 0) return;
    bool is_lost = ::waitpid(process_, nullptr, WNOHANG) == process_;
    if (is_lost) process_ = -1;
    if (!is_lost && !is_keeper_lost) return;
    (void)base::write_all(STDERR_FILENO,
                          "agent-sandbox: the process that makes Unix sockets for the command was killed: "
                          "from then on it could make none\n");
}

base::Status SocketFactory::await() const {
    if (!channel_) return base::success();
    int number = 0;
    ssize_t got = 0;
    do {
        got = ::recv(channel_.get(), &number, sizeof number, 0);
    } while (got < 0 && errno == EINTR);
    if (got != sizeof number) number = ECHILD;
    return number == 0 ? base::success() : base::Status(factory_error(number));
}

namespace {

constexpr std::chrono::milliseconds kLongestTracerEnd{2000};

}  // namespace

Tracer::~Tracer() {
    end();
}

base::Status Tracer::start(base::Fd listener) {
    int pair[2];
    // Non-blocking: neither process ever waits for the other, even if the other is stuck.
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
        return base::system_error("make a socket", errno);
    control_ = base::Fd(pair[0]);
    base::Fd theirs(pair[1]);
    listener_ = std::move(listener);
    Record::Share share;
    if (record_.is_open()) share = record_.share();
    pid_t supervisor = ::getpid();
    process_ = ::fork();
    if (process_ < 0) return base::system_error("start the tracer", errno);
    if (process_ > 0) return base::success();

    control_.release();
    step_aside(supervisor, "asb-tracer",
               {theirs.get(), listener_.get(), share.file.get(), answers_.socket_factory},
               answers_.guards_terminal_size ? ProcessSession::of_terminal : ProcessSession::own);
    // The tracer reads untrusted data of the jail and never needs another program.
    base::forget_environment();
    if (seccomp::forbid_execution_by_name() != 0) ::_exit(1);
    audit::Writer writer(std::move(share.file), share.is_chained ? "tracer" : "", share.seed,
                         share.part_size);
    ::_exit(tracer::run(plan_, {std::move(listener_), std::move(theirs), std::move(writer), answers_}));
}

Tracer::News Tracer::take() {
    base::Result<base::PassedDescriptors> passed = base::receive_descriptors(control_.get());
    std::string_view note = passed ? std::string_view(passed->note) : std::string_view();
    if (note == tracer::kAskForJournal) return News::journal_full;
    if (std::optional<std::string> why = tracer::decode_failure(note)) {
        failure_ = *std::move(why);
    } else {
        failure_ = "the process that traces it was ended from outside";
    }
    control_.reset();
    return News::lost;
}

void Tracer::pass_journal(base::Fd part) const {
    int passed[] = {part.get()};
    if (control_ && part) (void)base::send_descriptors(control_.get(), tracer::kJournal, passed);
}

void Tracer::say_over() const {
    if (control_) (void)base::send_descriptors(control_.get(), tracer::kOver, {});
}

tracer::Summary Tracer::finish() {
    tracer::Summary summary;
    if (control_ && base::send_descriptors(control_.get(), tracer::kEnd, {})) {
        while (base::await_events(control_.get(), POLLIN, kLongestTracerEnd) != 0) {
            base::Result<base::PassedDescriptors> passed = base::receive_descriptors(control_.get());
            if (!passed || passed->note.empty()) break;
            if (auto said = tracer::decode_summary(passed->note)) {
                summary = *std::move(said);
                break;
            }
        }
    }
    end();
    return summary;
}

void Tracer::end() {
    control_.reset();
    listener_.reset();
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
    process_ = -1;
}

}  // namespace session
