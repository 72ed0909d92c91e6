// SPDX-License-Identifier: MIT
// The order matters. Signals are blocked before anything is made that must be removed again. Nothing is
// removed before the jail is dead, because removing a mount point would uncover what it protects.
#include "session/session.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "backends/channels.h"
#include "base/backend.h"
#include "base/paths_inside.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "network/gateway/gateway.h"
#include "plan/backend.h"
#include "plan/print/summary.h"
#include "session/control/control.h"
#include "session/control/history.h"
#include "session/control/record.h"
#include "session/control/session_directory.h"
#include "session/control/steering.h"
#include "session/exit_status.h"
#include "session/guard/cover_watch.h"
#include "session/guard/keeper.h"
#include "session/guard/kept_state.h"
#include "session/guard/placeholders.h"
#include "session/helpers/backends.h"
#include "session/helpers/chaperon.h"
#include "session/helpers/gateway.h"
#include "session/helpers/notices.h"
#include "session/helpers/outside_answers.h"
#include "session/helpers/tracer.h"
#include "session/inherited.h"
#include "session/limits/limits.h"
#include "session/limits/usage.h"
#include "session/private_directory.h"
#include "session/search/search_guard.h"
#include "session/standard_files.h"
#include "session/supervise.h"
#include "session/terminal.h"

namespace session {
namespace {

using Clock = std::chrono::steady_clock;

// While bubblewrap starts, each mask needs a descriptor. The command gets the caller's own limit back.
class RaisedOpenFiles {
  public:
    RaisedOpenFiles() {
        if (::getrlimit(RLIMIT_NOFILE, &before_) != 0) return;
        struct rlimit raised = {before_.rlim_max, before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &raised);
    }
    ~RaisedOpenFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    RaisedOpenFiles(const RaisedOpenFiles&) = delete;
    RaisedOpenFiles& operator=(const RaisedOpenFiles&) = delete;

    uint64_t before() const { return before_.rlim_cur; }

  private:
    struct rlimit before_ = {};
};

base::Result<Placeholders> acquire_placeholders(const plan::Plan& plan, const Surroundings& surroundings) {
    std::vector<base::Path> wanted;
    Placeholders::Contents contents;
    for (const plan::Placeholder& placeholder : plan.placeholders) {
        wanted.push_back(placeholder.path);
        if (placeholder.content) contents.emplace(placeholder.path, *placeholder.content);
    }
    return Placeholders::acquire(surroundings.state_directory, std::move(wanted), contents, plan.project);
}

// The command had the terminal, so only it got the SIGINT of Ctrl-C. Send it to our whole process group, for
// instance to a script that started us, as it would get it without a jail.
void share_interrupt(const Terminal& terminal, const Outcome& outcome) {
    bool was_interrupted = outcome.ending && outcome.ending->by_signal && outcome.ending->number == SIGINT;
    if (was_interrupted && terminal.is_given()) ::kill(0, SIGINT);
}

void start_watch(Watch& watch, const plan::Plan& plan, pid_t stage) {
    Watch::Source source;
    if (watch.bounds().needs_meter()) {
        Meter meter(stage, memory_file_systems(plan));
        source.memory = [meter, limit = watch.bounds().memory] { return meter.memory(limit); };
        source.processor_ticks = [meter] { return meter.processor_ticks(); };
    }
    watch.start(Watch::Clock::now(), std::move(source));
}

std::map<std::string, std::string> sockets_of(const Notices& notices, const Chaperon& chaperon) {
    std::map<std::string, std::string> sockets;
    std::string_view inside = notices.rings() ? base::kNotifySocket : base::kMailSocket;
    if (!notices.path().empty()) sockets[std::string(inside)] = notices.path();
    if (!chaperon.path().empty()) sockets["slurm"] = chaperon.path();
    return sockets;
}

struct SocketName {
    std::string directory;
    std::string name;
};

// The name of a helper's socket on the host: in the session's own directory, if it has one.
SocketName socket_name(const plan::Plan& plan, const Surroundings& surroundings, std::string_view inside,
                       std::string_view outside) {
    if (!plan.place.directory.is_root()) return {plan.place.directory.str(), std::string(inside)};
    return {surroundings.state_directory + "/" + std::string(outside), surroundings.session};
}

// Notices are datagrams, which a jail without namespaces can't send (src/doorman).
bool can_be_notified(const plan::Plan& plan) {
    return plan::traits_of(plan.backend).has_namespaces;
}

// The socket through which the jail's doorman passes connections to the gateway.
struct Door {
    base::Fd jails, gateways;
};

base::Result<Door> make_door() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return base::system_error("make a socket", errno);
    return Door{base::Fd(ends[0]), base::Fd(ends[1])};
}

base::Result<Door> open_door(const plan::Plan& plan) {
    bool is_needed = plan::traits_of(plan.backend).hands_connections && plan.network.egress.needs_gateway();
    return is_needed ? make_door() : Door{};
}

// The socket through which the jail's own child passes its listeners to the gateway.
base::Result<Door> open_listeners_way(const plan::Plan& plan) {
    if (!sets_up_network(plan.backend) || !plan.network.egress.needs_gateway()) return Door{};
    return make_door();
}

// Reads what the kernel did for a limit. When memory runs out, the kernel kills the whole cgroup at once.
void look_back(const Cgroup& cgroup, Outcome& outcome) {
    Cgroup::Events events = cgroup.events();
    outcome.refused_processes = events.refused_processes;
    if (events.ran_out_of_memory && !outcome.ending) outcome.reached = "limits.memory";
}

// Opens the record and writes its first line. On a full disk the file may be made, but not written.
base::Status begin_record(Record& record, const plan::Plan& plan, const Surroundings& surroundings,
                          const std::string& policy) {
    if (!surroundings.record.is_wanted) return base::success();
    base::Status opened =
        record.open(surroundings.state_directory + "/sessions", surroundings.session, surroundings.record);
    if (opened) record_start(record.writer(), plan, surroundings, policy);
    bool is_lost = opened && record.writer().lost() > 0;
    if (opened && !(is_lost && surroundings.record.is_required)) return opened;
    if (is_lost) ::unlink(record.path().c_str());
    base::Error error =
        is_lost ? base::Error{.what = "cannot write the record " + record.path()} : opened.error();
    error.advice = "make room there, or set XDG_STATE_HOME to a directory that you can write";
    return error;
}

Gateway::Record shared_with_gateway(const Record& record) {
    if (!record.is_open()) return {};
    Record::Share share = record.share();
    return {std::move(share.file), share.is_chained, std::move(share.seed), share.part_size};
}

// The jail's mount namespace: passed by the stage, or opened in /proc if a backend's own program built the
// jail.
base::Result<base::Fd> mounts_of(pid_t stage, base::Fd handed_out) {
    if (handed_out) return handed_out;
    base::Fd found = backends::mount_namespace_of(stage);
    // EACCES: a set-uid program made the namespace. ENOENT: the jail may be dead already.
    bool is_out_of_reach = errno == EACCES || errno == ENOENT;
    if (!found && !is_out_of_reach) return base::system_error("watch over the mounts of the jail", errno);
    return found;
}

// The command has not started yet.
void tell_unwatched(Record& record, const base::Path& project) {
    (void)base::write_all(STDERR_FILENO, "agent-sandbox: " + std::string(kUnwatched) +
                                             "; end programs that watch files, or let the administrator "
                                             "raise the limits\n");
    record_unwatched(record.writer(), project);
}

// The command may have exited with 0, because a pipe accepted the output that the file could not.
void tell_lost_output(const base::Error& error, Ending& ending) {
    if (ending.exit_code == 0) ending.exit_code = 1;
    ending.by_limit = true;
    ending.reason = (ending.reason.empty() ? "" : ending.reason + "; ") + error.line();
}

// Launch failed after fork: kill the half-built jail before any user code runs.
base::Error abandon(const backends::Launched& launched, const Orphans& orphans, const base::Error& error) {
    ::kill(launched.process, SIGKILL);
    while (::waitpid(launched.process, nullptr, 0) < 0 && errno == EINTR) continue;
    orphans.end();
    return error;
}

}  // namespace

base::Result<Ending> run(const plan::Plan& plan, const host::Facts& facts, const Surroundings& surroundings) {
    base::fill_standard_descriptors();
    if (base::Status checked = check_inherited(plan); !checked) return checked.error();
    HeldSignals signals;
    RaisedOpenFiles open_files;
    Terminal terminal;
    Keeper keeper(surroundings.state_directory, surroundings.record.keep);
    if (plan.backend == base::Backend::bwrap) keeper.look_for_builders();
    const Clock::time_point began = Clock::now();
    SearchProgress progress;

    if (base::Status made = make_new_directories(plan); !made) return made.error();
    remove_planted_links(plan);
    if (base::Status made = make_kept_files(plan); !made) return made.error();
    base::Result<Placeholders> placeholders = acquire_placeholders(plan, surroundings);
    if (!placeholders) return placeholders.error();

    base::Result<Enforcement> limits = enforce(plan.limits, facts);
    if (!limits) return limits.error();

    Place place;
    if (base::Status made = place.make(plan.place); !made) return made.error();
    Notices notices;
    SocketName notify = socket_name(plan, surroundings, base::kNotifySocket, "notify");
    if (can_be_notified(plan)) notices.open(notify.directory, notify.name);
    Chaperon chaperon;
    if (plan.slurm.is_open) {
        SocketName name = socket_name(plan, surroundings, base::kSlurmSocket, "slurm/sockets");
        if (base::Status opened = chaperon.open(name.directory, name.name); !opened) return opened.error();
    }
    doorman::Orders answers = outside_answers(plan, facts, bool(terminal));
    SocketFactory factory;
    if (base::Status started = factory.start(answers, surroundings.socket_namespaces); !started)
        return started.error();
    base::Result<Door> door = open_door(plan);
    if (!door) return door.error();
    base::Result<Door> listeners = open_listeners_way(plan);
    if (!listeners) return listeners.error();
    backends::Caller caller{.signals = signals.before(),
                            .open_files = open_files.before(),
                            .limits = limits->resources,
                            .cgroup = limits->cgroup ? limits->cgroup->entrance() : -1,
                            .terminal = terminal.descriptor(),
                            .takes_terminal = terminal.is_given(),
                            .namespaces = surroundings.namespaces,
                            .sockets = sockets_of(notices, chaperon),
                            .door = door->jails.get(),
                            .answers = answers};
    if (plan.network.egress.needs_gateway())
        caller.network = network::gateway::wanted_of(plan.network.egress);
    caller.listeners = listeners->jails.get();
    Record record;
    std::string policy = plan::policy_digest(plan);
    // Threat: a command that must be recorded would run for a moment if its record can't be made
    // (tests/admin/resource_faults.bats).
    if (surroundings.record.is_required) {
        if (base::Status begun = begin_record(record, plan, surroundings, policy); !begun)
            return begun.error();
    }
    Orphans orphans;
    orphans.spare(factory.process());
    CoverWatch covers(plan);
    StandardFiles files;
    if (base::Status replaced = files.replace(); !replaced) return replaced.error();
    base::Result<backends::Launched> launched = launch(plan, facts, caller);
    if (!launched) return launched.error();
    if (base::Status copied = files.give_back(); !copied) return abandon(*launched, orphans, copied.error());
    orphans.spare(files.relay());
    door->jails.reset();
    listeners->jails.reset();

    // From here on the jail is being built. Work that ends before it is ready does not delay the command.
    std::string unrecorded;
    if (!surroundings.record.is_required) {
        base::Status begun = begin_record(record, plan, surroundings, policy);
        if (!begun) unrecorded = begun.error().line();
    }
    Gateway gateway;
    if (plan.network.egress.needs_gateway()) {
        base::Status started = gateway.start(
            plan.network.egress,
            {std::move(launched->information), std::move(listeners->gateways), std::move(door->gateways)},
            shared_with_gateway(record));
        if (!started) return abandon(*launched, orphans, started.error());
        orphans.spare(gateway.process());
    }
    Supervisor supervisor(*launched, signals, orphans, terminal, limits->watch, gateway, notices, chaperon);
    SessionDirectory directory;
    if (!surroundings.runtime_place.empty()) {
        // Without it the session runs, but is not listed.
        (void)directory.make(surroundings.runtime_place, surroundings.session,
                             description_of(plan, surroundings), record.path());
    }
    Control control;
    LiveRules live(surroundings.replan, policy, control, gateway, record.writer());
    control.open(directory.control(),
                 [&](pid_t asker) { return is_outside_of_jail(asker, supervisor.stage_process()); });
    Steering steering(control, {.plan = plan,
                                .directory = directory,
                                .gateway = gateway,
                                .live = live,
                                .stage = [&] { return supervisor.stage_process(); },
                                .stop = [&](bool at_once) { supervisor.stop(at_once); }});
    supervisor.listen_to(control, record);
    Tracer tracer(plan, record, answers);
    if (plan.trace.is_wanted()) supervisor.trace_with(tracer);
    SearchGuard search(plan, surroundings.state_directory, progress);
    const bool needs_mounts = plan::traits_of(plan.backend).has_namespaces;
    const bool is_watched = search.open_watch() && covers.is_watching();
    base::Status kept = keeper.start(
        {*placeholders, terminal, limits->cgroup, place, directory, std::move(covers), search, answers});
    if (!kept) return abandon(*launched, orphans, kept.error());
    orphans.spare(keeper.process());
    supervisor.listen_to(keeper);
    Outcome outcome = supervisor.attend([&](Supervisor::Stage stage) -> base::Status {
        // A mount keeps the sockets alive. In a directory of the session the names are needed to reach them.
        if (place.is_empty()) {
            notices.forget_name();
            chaperon.forget_name();
        }
        base::Result<base::Fd> mounts =
            needs_mounts ? mounts_of(stage.process, std::move(stage.mounts)) : base::Fd();
        if (!mounts) return mounts.error();
        limit_watches(plan.backend, *mounts);
        if (base::Status ready = factory.await(); !ready) return ready.error();
        tell_shared_sockets(plan, answers, bool(stage.listener));
        if (base::Status guarded = keeper.guard(stage.descriptor, *mounts, stage.listener); !guarded)
            return guarded.error();
        if (!is_watched) tell_unwatched(record, plan.project);
        start_watch(limits->watch, plan, stage.process);
        if (plan.slurm.is_open) chaperon.get_ready(plan, facts, surroundings, open_files.before(), &record);
        return base::success();
    });
    orphans.spare(chaperon.process());
    if (!plan::traits_of(plan.backend).has_namespaces) orphans.end_all();
    base::Status copied = files.finish();
    control.close();
    bool has_used_slurm = chaperon.process() > 0;
    chaperon.end();
    if (limits->cgroup) look_back(*limits->cgroup, outcome);
    factory.tell_if_lost(keeper.was_lost());
    share_interrupt(terminal, outcome);
    terminal.recover();
    std::vector<backends::Uncovered> uncovered = keeper.uncovered();
    const std::string_view lost_reports = keeper.lost_reports();
    if (!uncovered.empty() || !lost_reports.empty()) placeholders->expect_content();
    placeholders->release();
    place.remove();
    record_uncovered(record.writer(), uncovered);
    if (!lost_reports.empty()) record_lost_reports(record.writer(), plan.project, lost_reports);
    progress.wait_until_written();
    SearchProgress::Report found = progress.report();
    record_search(record.writer(), found);
    keeper.dismiss(has_used_slurm);
    network::gateway::Summary refusals = gateway.finish();
    tracer::Summary trace = tracer.finish();
    base::Result<Ending> ending = conclude(plan, outcome);
    if (ending) {
        ending->landlock_abi = outcome.landlock_abi;
        ending->network = refusals;
        ending->trace = trace;
        // If the whole jail was killed, the gateway was only the first process to die.
        ending->has_lost_network = gateway.was_lost() && outcome.ending;
        ending->refused_mails = outcome.refused_mails;
        ending->uncovered = std::move(uncovered);
        ending->lost_reports = lost_reports;
        ending->search = std::move(found);
        ending->has_used_slurm = has_used_slurm;
        ending->record = record.path();
        ending->unrecorded = unrecorded;
        if (!copied) tell_lost_output(copied.error(), *ending);
    }
    auto duration = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
    record_end(record.writer(), ending,
               {.gateway = {refusals.lines, refusals.hash}, .tracer = {trace.lines, trace.hash}}, duration);
    if (ending) ending->head = record.writer().head();
    if (ending) ending->lost_lines = record.writer().lost();
    return ending;
}

}  // namespace session
