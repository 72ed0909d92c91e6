// SPDX-License-Identifier: MIT
// Theory of operation. The command is in its own process group, so each signal reaches it exactly once:
//
//   its group is in the foreground           the terminal signals it directly; we get nothing
//   else (pipelines, no terminal, kill)      we get the signal, and pass it on through the stage
//
// When the command stops, the stage reports it, and the caller's job must stop as well, or its shell would
// wait for ever. So we take the terminal back and stop the whole job as the terminal would have. When it is
// continued, we give the terminal to the command again. A command that reads the terminal from the background
// (SIGTTIN, SIGTTOU) gets it if the caller's job has it.
#include "session/supervise.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/process/descriptors.h"
#include "base/text.h"
#include "inner/messages.h"
#include "session/control/history.h"
#include "session/session.h"

namespace session {
namespace {

constexpr std::chrono::seconds kLongestDeath{10};
// How long the end of a session waits for the keeper's last report. A keeper that a file system blocks, or
// that is stopped, does not delay it further.
constexpr std::chrono::seconds kLongestReporting{2};
constexpr uint64_t kMostMailLines = 1000;
// If all processes of a session are killed together, as Slurm does with a step, we die a moment after the
// gateway. Then a message about the lost network would only confuse.
constexpr std::chrono::milliseconds kBeforeTelling{250};

// A signal of the terminal or the kernel is meant for the whole job, a signal of kill(2) for one process.
bool is_for_group(const struct signalfd_siginfo& information) {
    int signal = static_cast<int>(information.ssi_signo);
    return information.ssi_code == SI_KERNEL || signal == SIGTSTP || signal == SIGWINCH;
}

// Stops the caller's job with the signal that a terminal would send. In an orphaned group, which no shell
// could continue, the kernel ignores it and we continue at once. Returns when continued.
void stop_job() {
    sigset_t stop, resume;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigemptyset(&resume);
    sigaddset(&resume, SIGCONT);
    ::kill(0, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, nullptr);
    sigprocmask(SIG_BLOCK, &stop, nullptr);
    struct timespec now = {};
    sigtimedwait(&resume, nullptr, &now);
}

std::string read_what_is_there(int fd) {
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    std::string text;
    char bytes[4096];
    for (ssize_t got; (got = ::read(fd, bytes, sizeof bytes)) > 0;)
        text.append(bytes, static_cast<size_t>(got));
    return text;
}

}  // namespace

Supervisor::Supervisor(Parts parts)
    : parts_(std::move(parts)), is_network_ready_(parts_.gateway.process() < 0) {
    register_sources();
}

// One row for each thing that the supervisor waits for, in the order in which ready ones are served. The
// reports of the stage come first: they give the reason for its death, which the next row and SIGCHLD
// announce.
void Supervisor::register_sources() {
    constexpr int kUntilTold = static_cast<int>(kBeforeTelling.count());
    loop_.add_check([this] { return parts_.watch.wait(Watch::Clock::now()); }, [this] { hold_limits(); });
    loop_.add_check([this] { return network_lost_ ? kUntilTold : -1; }, [this] { tell_lost_network(); });

    // A closed connection would always be ready.
    loop_.add(
        {[this] { return is_connected_ ? parts_.launched.control.get() : -1; }, [this] { take_reports(); }});
    loop_.add({[this] { return is_stage_gone_ ? -1 : stage_.get(); }, [this] { lose_stage(); }});
    loop_.add({[this] { return parts_.gateway.events(); }, [this] { hear_gateway(); }});
    loop_.add({[this] { return parts_.notices.events(Watch::Clock::now()); },
               [this] { record_mail(parts_.notices.take(Watch::Clock::now())); },
               [this] { return parts_.notices.wait(Watch::Clock::now()); }});
    loop_.add({[this] { return parts_.chaperon.events(); }, [this] { parts_.chaperon.start(); }});
    loop_.add({[this] { return parts_.ssh_agent.events(); }, [this] { parts_.ssh_agent.take(); }});
    loop_.add(
        base::signal_source(parts_.signals.events(), [this](const auto& signal) { take_signal(signal); }));
    loop_.add({[this] { return parts_.control.events(); }, [this] { parts_.control.take(); }});
    loop_.add({[this] { return parts_.values.events(); }, [this] { parts_.values.take(); }});
    if (parts_.tracer != nullptr)
        loop_.add({[this] { return parts_.tracer->events(); }, [this] { hear_tracer(); }});
    loop_.add({[this] { return parts_.keeper.events(); }, [this] { take_keeper_reports(); }});
}

Outcome Supervisor::attend() {
    while (is_running_ || is_connected_) loop_.turn();
    await_death();
    take_last_keeper_reports();
    record_mail(parts_.notices.finish());
    outcome_.ended_commands = parts_.added.finish();
    outcome_.reached = parts_.watch.reached();
    outcome_.diagnostics = read_what_is_there(parts_.launched.diagnostics.get());
    return std::move(outcome_);
}

void Supervisor::tell_lost_network() {
    if (!network_lost_ || Watch::Clock::now() - *network_lost_ < kBeforeTelling) return;
    network_lost_.reset();
    // Printed now, and again at the end: a full-screen program may hide the first message.
    (void)base::write_all(STDERR_FILENO, base::format("agent-sandbox: {}\n", kLostNetwork));
}

// If only the backend's process is killed, it exits a moment before the jail.
void Supervisor::await_death() const {
    if (stage_) (void)base::await_events(stage_.get(), POLLIN, kLongestDeath);
}

void Supervisor::take_signal(const struct signalfd_siginfo& information) {
    int signal = static_cast<int>(information.ssi_signo);
    if (signal == SIGCONT) return continue_command();
    // A logout, or the end of the terminal's holder, which ends the session by itself.
    if (signal == SIGHUP && parts_.detached != nullptr) return;
    if (signal != SIGCHLD) return send({.signal = signal, .to_group = is_for_group(information)});
    int status = 0;
    pid_t builder = parts_.launched.process;
    if (!is_running_ || ::waitpid(builder, &status, WNOHANG) != builder) return;
    is_running_ = false;
    // If the stage outlives the backend's process, nothing else supervises the jail.
    if (stage_process_ < 0) {
        parts_.orphans.end();
    } else {
        end_jail();
    }
}

// The stage waits for the ready message. If the gateway fails, it is never sent, and the jail ends before the
// command runs.
void Supervisor::hear_gateway() {
    switch (parts_.gateway.take()) {
        case Gateway::News::none:
            return;
        case Gateway::News::serves:
            is_network_ready_ = true;
            give_word();
            return;
        case Gateway::News::failed:
            // Do not kill bubblewrap: killed while it makes its namespaces, it leaves a child that waits for
            // ever. The stage exits by itself when the connection is closed.
            outcome_.gateway_failure = parts_.gateway.failure();
            ::shutdown(parts_.launched.control.get(), SHUT_RDWR);
            is_connected_ = false;
            return;
        case Gateway::News::journal_full:
            go_on_recording();
            return;
        case Gateway::News::lost:
            network_lost_ = Watch::Clock::now();
            return;
    }
}

// All writers change to the same new part, so that lines of about the same time are in one file.
void Supervisor::go_on_recording() {
    base::Fd part = parts_.record.next_part();
    if (parts_.tracer != nullptr)
        parts_.tracer->pass_journal(base::Fd(::fcntl(part.get(), F_DUPFD_CLOEXEC, 0)));
    parts_.gateway.pass_journal(std::move(part));
}

// The first exec of the command waits for the tracer.
void Supervisor::start_tracer(base::Fd listener) {
    if (parts_.tracer == nullptr || parts_.tracer->process() > 0) return;
    base::Status started = listener ? parts_.tracer->start(std::move(listener))
                                    : base::system_error("take the listener of its calls", EMFILE);
    if (started) return;
    outcome_.tracer_failure = started.error().line();
    end_jail();
}

// Threat: without its tracer a jail would continue half broken, or untraced while its user relies on the
// trace (tests/jail/trace.bats: when the tracer is killed the jail ends, with a message).
void Supervisor::hear_tracer() {
    switch (parts_.tracer->take()) {
        case Tracer::News::none:
            return;
        case Tracer::News::journal_full:
            go_on_recording();
            return;
        case Tracer::News::lost:
            outcome_.tracer_failure = parts_.tracer->failure();
            end_jail();
            return;
    }
}

// Threat: a process that opened a protected file while it was uncovered could change it unnoticed
// (tests/jail/holders.bats).
void Supervisor::take_keeper_reports() {
    for (const BareName& name : parts_.keeper.take_reports()) {
        (void)base::write_all(STDERR_FILENO, base::format("agent-sandbox: {} was replaced outside and open "
                                                          "inside for a moment: {}; check the file\n",
                                                          base::printable(name.path.str()), name.detail));
        record_held(parts_.record.writer(), name);
        if (!name.may_be_held) continue;
        outcome_.held_file = name.path.str();
        end_jail();
    }
    for (const GitVerdict& verdict : parts_.keeper.take_verdicts()) {
        outcome_.refused_settings += verdict.is_accepted ? 0 : 1;
        if (!verdict.is_file) outcome_.moved_remotes[verdict.path] = verdict.moved_remotes;
        record_git(parts_.record.writer(), verdict);
        if (!verdict.ends_session) continue;
        outcome_.planted_file = verdict.path.str();
        end_jail();
    }
    for (const std::string& program : parts_.keeper.take_refused_programs()) note_refused_program(program);
}

// Threat: the process that opened the file is the command itself. The keeper kills it, the jail ends, and the
// session would end before the keeper's report arrives (tests/jail/holders.bats: the main command …).
void Supervisor::take_last_keeper_reports() {
    const auto latest = std::chrono::steady_clock::now() + kLongestReporting;
    do {
        take_keeper_reports();
    } while (parts_.keeper.await_reports(latest));
}

void Supervisor::record_mail(const std::vector<std::string>& mailers) {
    for (const std::string& mailer : mailers) {
        if (++outcome_.refused_mails > kMostMailLines) return;
        audit::Line line("mail");
        line.text("verdict", "deny").text("name", mailer).text("reason", "mail is closed in the jail");
        parts_.record.writer().write(std::move(line));
    }
}

void Supervisor::record_refused_name(const std::string& name) {
    audit::Line line("socket");
    line.text("verdict", "deny")
        .text("name", name)
        .text("reason", "programs outside could connect to an abstract name of the jail");
    parts_.record.writer().write(std::move(line));
}

void Supervisor::note_refused_program(const std::string& program) {
    outcome_.refused_programs.push_back(program);
    record_refused_program(parts_.record.writer(), program);
}

void Supervisor::stop(bool at_once) {
    parts_.watch.stop(Watch::Clock::now(), at_once);
    hold_limits();
}

void Supervisor::take_reports() {
    char bytes[1024];
    struct iovec place = {bytes, sizeof bytes};
    alignas(struct cmsghdr) char
        extra[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(inner::kMostReported * sizeof(int))];
    struct msghdr message = {};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    message.msg_control = extra;
    message.msg_controllen = sizeof extra;
    ssize_t got = ::recvmsg(parts_.launched.control.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
        is_connected_ = false;
        return;
    }
    Descriptors descriptors;
    for (struct cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_type == SCM_CREDENTIALS)
            remember_stage(reinterpret_cast<const struct ucred*>(CMSG_DATA(header))->pid);
        if (header->cmsg_type != SCM_RIGHTS) continue;
        const int* numbers = reinterpret_cast<const int*>(CMSG_DATA(header));
        for (size_t i = 0; i < (header->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i)
            descriptors.emplace_back(numbers[i]);
    }
    received_.append(bytes, static_cast<size_t>(got));
    // One recvmsg returns nothing after the first report with descriptors. So they belong to the last report.
    for (inner::Report report; inner::take_report(received_, report);)
        obey(report, received_.empty() ? std::exchange(descriptors, {}) : Descriptors());
}

void Supervisor::remember_stage(pid_t pid) {
    if (stage_process_ > 0 || pid <= 0) return;
    stage_process_ = pid;
    stage_ = base::open_pidfd(pid);
}

void Supervisor::hold_limits() {
    if (parts_.watch.wait(Watch::Clock::now()) < 0) return;
    switch (parts_.watch.look(Watch::Clock::now())) {
        case Watch::Action::go_on:
            return;
        case Watch::Action::ask_to_end:
            send({.signal = SIGTERM, .to_group = true});
            send({.signal = SIGCONT, .to_group = true});
            return;
        case Watch::Action::end_now:
            end_jail();
            return;
    }
}

// If the stage is not pid 1, the backend's own program may continue to run for processes that are left in the
// jail. A stage that ended as it should has killed them, and that program then cleans up and exits.
void Supervisor::lose_stage() {
    is_stage_gone_ = true;
    if (is_connected_) take_reports();  // its last reports
    bool has_spoken = outcome_.ending || outcome_.failure;
    if (is_running_ && !has_spoken) ::kill(parts_.launched.process, SIGKILL);
}

// When pid 1 or its parent dies, the kernel kills everything that is left. If the stage is dead already and
// the backend's program still runs, it was stopped: kill it.
void Supervisor::end_jail() const {
    if (stage_ && !is_stage_gone_) {
        (void)base::send_signal(stage_, SIGKILL);
    } else if (is_running_) {
        ::kill(parts_.launched.process, SIGKILL);
    }
}

// Threat: a jail without a guard shows files that are replaced outside (tests/jail/covers.bats: a
// file that is replaced at any moment of a launch is covered).
void Supervisor::get_ready(const inner::Report& report, Descriptors descriptors) {
    outcome_.landlock_abi = report.number;
    Stage stage{.process = stage_process_,
                .descriptor = stage_.get(),
                .mounts = {},
                .listener = {},
                .home = {},
                .proc = {}};
    for (size_t i = 0; i < std::min(descriptors.size(), report.step.size()); ++i) {
        const char letter = report.step[i];
        base::Fd& place = letter == inner::kListenerComes ? stage.listener
                          : letter == inner::kHomeComes   ? stage.home
                          : letter == inner::kProcComes   ? stage.proc
                                                          : stage.mounts;
        place = std::move(descriptors[i]);
    }
    base::Status ready = parts_.on_built(std::move(stage));
    is_guarded_ = static_cast<bool>(ready);
    if (is_guarded_) {
        give_word();
    } else {
        outcome_.guard_failure = ready.error();
        end_jail();
    }
}

void Supervisor::give_word() {
    if (!is_guarded_ || !is_network_ready_) return;
    outcome_.may_have_run = true;
    send({.signal = 0});
}

void Supervisor::obey(const inner::Report& report, Descriptors descriptors) {
    if (report.slot >= 0) return parts_.added.hear(report);
    switch (report.kind) {
        case inner::Report::Kind::built:
            get_ready(report, std::move(descriptors));
            return;
        case inner::Report::Kind::traced:
            start_tracer(descriptors.empty() ? base::Fd() : std::move(descriptors.front()));
            return;
        case inner::Report::Kind::refused:
            record_refused_name(report.object);
            return;
        case inner::Report::Kind::opened:
            outcome_.opened_masks.push_back(report.object);
            return;
        case inner::Report::Kind::nested:
            note_refused_program(report.object);
            return;
        case inner::Report::Kind::started:
            outcome_.has_started = true;
            parts_.added.open();
            if (parts_.detached != nullptr && !parts_.detached->report_started(parts_.session)) stop(true);
            return;
        case inner::Report::Kind::failed:
            outcome_.failure = report;
            return;
        case inner::Report::Kind::stopped:
            follow_stop(report.number);
            return;
        case inner::Report::Kind::ended:
            outcome_.ending = report;
            parts_.gateway.ask_to_end();
            if (parts_.tracer != nullptr) parts_.tracer->say_over();
            return;
    }
}

void Supervisor::send(const inner::SignalRequest& request) {
    std::string frame = inner::encode(request);
    // The stage may have exited: then there is nothing to signal.
    (void)!::send(parts_.launched.control.get(), frame.data(), frame.size(), MSG_NOSIGNAL);
}

void Supervisor::follow_stop(int signal) {
    // Without a terminal there is no job control, and a jail must not stop processes outside.
    if (!parts_.terminal) return;
    bool asks_for_terminal = signal == SIGTTIN || signal == SIGTTOU;
    wants_terminal_ = wants_terminal_ || asks_for_terminal || parts_.terminal.is_given();
    bool can_have_it = asks_for_terminal && parts_.terminal.is_ours();
    if (!can_have_it) {
        parts_.terminal.take_back();
        stop_job();
    }
    continue_command();
}

void Supervisor::continue_command() {
    bool takes_terminal = wants_terminal_ && parts_.terminal.is_ours();
    if (takes_terminal) parts_.terminal.give();
    send({.signal = SIGCONT, .to_group = true, .takes_terminal = takes_terminal});
}

}  // namespace session
