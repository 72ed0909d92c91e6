// SPDX-License-Identifier: MIT
// Theory of operation. A session has four phases. Their order, and the order within them, is part of the
// protection: signals are blocked before anything is made that must be removed again, the command waits until
// every helper is ready, and nothing is removed before the jail is dead, because removing a mount point would
// uncover what it protects.
//
//   phase     what it does                              after an error       after a kill of the supervisor
//   -------   ---------------------------------------   ------------------   ------------------------------
//   prepare   makes what the jail needs on the host:    the destructors      the next launch removes it
//             placeholders, limits, sockets, record     remove it
//   launch    starts the jail and, while it is built,   the jail is killed   the kernel kills the jail; the
//             its helpers; the keeper is the last one   before code of the   keeper or the next launch
//                                                       user runs            cleans up
//   serve     lets the command run when all is ready,   the same             the kernel kills the jail; the
//             handles events until the jail is dead                          keeper cleans up
//   wind up   removes what prepare made, collects       continues            the keeper cleans up
//             reports, closes the record
//
// tests/jail/phase_faults.bats kills the supervisor or a helper after each phase.
//
// The members of Session are in the order in which they are made. The destructors run in the reverse order.
#include "session/session.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <optional>
#include <utility>

#include "backends/backend.h"
#include "base/backend.h"
#include "base/inside/jail_files.h"
#include "base/process/descriptors.h"
#include "network/gateway/gateway.h"
#include "plan/backend.h"
#include "plan/print/summary.h"
#include "session/control/added_commands.h"
#include "session/control/control.h"
#include "session/control/history.h"
#include "session/control/record.h"
#include "session/control/session_directory.h"
#include "session/control/steering.h"
#include "session/detached/attachments.h"
#include "session/directories.h"
#include "session/exit_status.h"
#include "session/guard/cover_guard.h"
#include "session/guard/keeper.h"
#include "session/guard/new_names.h"
#include "session/guard/placeholders.h"
#include "session/helpers/backends.h"
#include "session/helpers/chaperon.h"
#include "session/helpers/gateway.h"
#include "session/helpers/notices.h"
#include "session/helpers/outside_answers.h"
#include "session/helpers/socket_owner.h"
#include "session/helpers/ssh_agent.h"
#include "session/limits/limits.h"
#include "session/search/search_guard.h"
#include "session/standard_files.h"
#include "session/steps.h"
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

class Session {
  public:
    Session(const plan::Plan& plan, const host::Facts& facts, const SessionOptions& options);

    base::Result<Ending> run();

  private:
    base::Status prepare();
    base::Status launch();
    Outcome serve();
    base::Result<Ending> wind_up(Outcome outcome);

    base::Status take_layer();
    base::Status open_sockets();
    base::Status start_jail();
    base::Status start_helpers();
    base::Status start_gateway();
    void open_control();
    base::Status make_ready(Supervisor::Stage stage);
    backends::Caller state_of_caller() const;
    std::optional<Meter> meter() const;
    bool has_namespaces() const { return plan::traits_of(plan_.backend).has_namespaces; }
    bool needs_gateway() const { return plan_.network.egress.needs_gateway(); }

    const plan::Plan& plan_;
    const host::Facts& facts_;
    const SessionOptions& options_;
    HeldSignals signals_;
    RaisedOpenFiles open_files_;
    Terminal terminal_;
    Keeper keeper_;
    const Clock::time_point began_ = Clock::now();
    SearchProgress progress_;

    // Prepare
    std::optional<Placeholders> placeholders_;
    NewNames new_names_;
    Enforcement limits_;
    PrivateDirectory private_directory_;
    Notices notices_;
    Chaperon chaperon_;
    SshAgent ssh_agent_;
    doorman::AnsweredCalls answers_;
    SocketFactory factory_;
    DescriptorChannel handoff_, listeners_;
    PrivateHome home_;
    base::Fd layer_;  // its lock, as long as the session runs
    Record record_;
    std::string policy_;  // its digest

    // Launch
    std::optional<Orphans> orphans_;
    std::optional<CoverWatch> covers_;
    StandardFiles files_;
    backends::Launched launched_;
    std::string unrecorded_;  // why there is no record
    Gateway gateway_;
    Values values_;
    SessionDirectory directory_;
    Control control_;
    std::optional<PublishedPorts> ports_;
    std::optional<LiveRules> live_;
    std::optional<Asks> asks_;
    std::optional<AddedCommands> added_;
    std::optional<Attachments> attachments_;
    std::optional<Steering> steering_;
    Tracer tracer_;
    SearchGuard search_;
    bool is_watched_ = false;  // a change of a covered name is an event

    // Serve
    std::optional<Supervisor> supervisor_;
    base::Fd jail_proc_;  // the /proc of the jail's pid namespace, if it has one
};

Session::Session(const plan::Plan& plan, const host::Facts& facts, const SessionOptions& options)
    : plan_(plan),
      facts_(facts),
      options_(options),
      keeper_(options.state_directory, options.record.keep),
      home_(plan, options.state_directory, options.session),
      tracer_(plan, record_, answers_),
      search_(plan, options.state_directory, progress_) {
    if (plan.backend == base::Backend::bwrap) keeper_.look_for_builders();
}

base::Result<Ending> Session::run() {
    if (base::Status done = prepare(); !done) return done.error();
    if (base::Status done = launch(); !done) return done.error();
    Outcome outcome = serve();
    return wind_up(std::move(outcome));
}

// ---- Prepare: no process of the jail exists

base::Status Session::prepare() {
    if (base::Status taken = take_layer(); !taken) return taken;
    if (base::Status made = make_new_directories(plan_, options_.state_directory); !made) return made;
    remove_planted_links(plan_);
    if (base::Status made = make_kept_files(plan_); !made) return made;
    base::Result<Placeholders> placeholders = acquire_placeholders(plan_, options_);
    if (!placeholders) return placeholders.error();
    placeholders_ = *std::move(placeholders);
    new_names_ = NewNames(plan_, options_.state_directory, options_.session);
    base::Result<Enforcement> limits = enforce(plan_.limits, facts_);
    if (!limits) return limits.error();
    limits_ = *std::move(limits);
    if (base::Status made = private_directory_.make(plan_.private_directory); !made) return made;
    if (base::Status opened = open_sockets(); !opened) return opened;
    policy_ = plan::policy_digest(plan_);
    // Threat: a command that must be recorded would run for a moment if its record can't be made
    // (tests/admin/resource_faults.bats).
    return options_.record.is_required ? begin_record(record_, plan_, options_, policy_) : base::success();
}

base::Status Session::take_layer() {
    if (!plan_.is_layered || !options_.layer) return base::success();
    base::Result<base::Fd> layer = open_layer(plan_, *options_.layer);
    if (!layer) return layer.error();
    layer_ = *std::move(layer);
    keeper_.sync_at_end(options_.layer->directory);
    return base::success();
}

base::Status Session::open_sockets() {
    SocketName notify = socket_name(plan_, options_, base::kNotifySocket, "notify");
    if (can_be_notified(plan_)) notices_.open(notify.directory, notify.name);
    if (plan_.slurm.is_open) {
        SocketName name = socket_name(plan_, options_, base::kSlurmSocket, "slurm/sockets");
        if (base::Status opened = chaperon_.open(name.directory, name.name); !opened) return opened;
    }
    if (plan_.ssh.is_open) {
        SocketName name = socket_name(plan_, options_, base::kSshAgentSocket, "ssh-agent");
        if (base::Status opened = ssh_agent_.open(name.directory, name.name); !opened) return opened;
    }
    answers_ = outside_answers(plan_, facts_, bool(terminal_));
    if (base::Status started = factory_.start(answers_, options_.socket_namespaces); !started) return started;
    base::Result<DescriptorChannel> handoff = open_handoff(plan_);
    if (!handoff) return handoff.error();
    handoff_ = *std::move(handoff);
    base::Result<DescriptorChannel> listeners = open_listener_channel(plan_);
    if (!listeners) return listeners.error();
    listeners_ = *std::move(listeners);
    return base::success();
}

// ---- Launch: the jail is built and waits

base::Status Session::launch() {
    if (base::Status started = start_jail(); !started) return started;
    base::Status started = start_helpers();
    if (started && options_.confirm) started = options_.confirm();
    return started ? started : abandon(launched_, *orphans_, started.error());
}

base::Status Session::start_jail() {
    if (options_.early_child != nullptr && plan_.backend != base::Backend::native)
        options_.early_child->end();
    orphans_.emplace();
    orphans_->spare(factory_.process());
    covers_.emplace(plan_);
    if (base::Status replaced = files_.replace(); !replaced) return replaced;
    base::Result<backends::Launched> launched = session::launch(plan_, facts_, state_of_caller());
    if (!launched) return launched.error();
    launched_ = *std::move(launched);
    return base::success();
}

backends::Caller Session::state_of_caller() const {
    backends::Caller caller{.signals = signals_.before(),
                            .open_files = open_files_.before(),
                            .limits = limits_.resources,
                            .cgroup = limits_.cgroup ? limits_.cgroup->entrance() : -1,
                            .terminal = terminal_.descriptor(),
                            .takes_terminal = terminal_.is_given(),
                            .namespaces = options_.namespaces,
                            .sockets = sockets_of(notices_, chaperon_, ssh_agent_),
                            .handoff = handoff_.jails.get(),
                            .answers = answers_};
    if (needs_gateway()) caller.network = network::gateway::network_request_for(plan_.network.egress);
    caller.listeners = listeners_.jails.get();
    caller.early_child = options_.early_child;
    return caller;
}

// The jail is being built meanwhile. Work that ends before it is ready does not delay the command.
base::Status Session::start_helpers() {
    if (base::Status copied = files_.give_back(); !copied) return copied;
    orphans_->spare(files_.relay());
    handoff_.jails.reset();
    listeners_.jails.reset();
    if (!options_.record.is_required) {
        base::Status begun = begin_record(record_, plan_, options_, policy_);
        if (!begun) unrecorded_ = begun.error().line();
    }
    if (base::Status started = start_gateway(); !started) return started;
    open_control();
    is_watched_ = search_.open_watch() && covers_->is_watching();
    // The last one: it gets what all others have made.
    base::Status kept =
        keeper_.start({*placeholders_, new_names_, terminal_, limits_.cgroup, private_directory_, directory_,
                       *std::move(covers_), search_, home_, answers_});
    if (kept) orphans_->spare(keeper_.process());
    return kept;
}

base::Status Session::start_gateway() {
    if (!needs_gateway()) return base::success();
    base::Result<std::optional<network::gateway::BrokerInputs>> broker = broker_inputs(plan_, options_);
    if (!broker) return broker.error();
    if (*broker) {
        base::Status opened = values_.open(options_.broker.fetch, options_.broker.logins);
        if (!opened) return opened;
        values_.serve(gateway_);
        gateway_.when_program_wanted([this](uint16_t port) {
            std::optional<Meter> jail = meter();
            return jail ? program_with_port(jail->places(), port) : std::string();
        });
    }
    base::Status started = gateway_.start(
        plan_.network.egress,
        {std::move(launched_.information), std::move(listeners_.gateways), std::move(handoff_.gateways)},
        shared_with_gateway(record_), *std::move(broker));
    if (started) orphans_->spare(gateway_.process());
    return started;
}

void Session::open_control() {
    if (!options_.runtime_place.empty()) {
        // Without it the session runs, but is not listed.
        (void)directory_.make(options_.runtime_place, options_.session, description_of(plan_, options_),
                              record_.path());
    }
    ports_.emplace(plan_.network.egress.published, gateway_, directory_);
    live_.emplace(options_.replan, policy_, control_, gateway_, *ports_, record_.writer(),
                  live_names(plan_, options_));
    gateway_.when_certificate_ends([this] { live_->renew_certificate(); });
    control_.open(directory_.control(), [this](pid_t asker) {
        return is_outside_of_jail(
            asker, has_namespaces() ? std::nullopt : std::optional(supervisor_->stage_process()));
    });
    added_.emplace(AddedCommands::Parts{
        .plan = plan_,
        .control = control_,
        .record = record_.writer(),
        .may_pass = options_.may_pass,
        .send =
            [this](const inner::SignalRequest& request, const std::vector<int>& descriptors) {
                return base::send_with_descriptors(launched_.control.get(), inner::encode(request),
                                                   descriptors, MSG_DONTWAIT);
            },
        .explain = start_error});
    attachments_.emplace(
        Attachments::Parts{.control = control_,
                           .directory = directory_,
                           .holder = options_.detached != nullptr ? options_.detached->holder() : -1,
                           .on_lost = [this] { supervisor_->stop(false); }});
    asks_.emplace(asks_parts(control_, options_, *live_, notices_, record_.writer()));
    notices_.when_asked(
        [this](std::string_view text, base::Fd client) { asks_->take(text, std::move(client)); });
    steering_.emplace(control_,
                      Steering::Parts{.plan = plan_,
                                      .directory = directory_,
                                      .gateway = gateway_,
                                      .ssh_agent = ssh_agent_,
                                      .live = *live_,
                                      .asks = *asks_,
                                      .meter = [this] { return meter(); },
                                      .commands = [this] { return added_->list(); },
                                      .stop = [this](bool at_once) { supervisor_->stop(at_once); }});
}

// ---- Serve: the command runs

Outcome Session::serve() {
    supervisor_.emplace(Supervisor::Parts{
        .launched = launched_,
        .signals = signals_,
        .orphans = *orphans_,
        .terminal = terminal_,
        .watch = limits_.watch,
        .gateway = gateway_,
        .values = values_,
        .notices = notices_,
        .chaperon = chaperon_,
        .ssh_agent = ssh_agent_,
        .control = control_,
        .added = *added_,
        .record = record_,
        .tracer = plan_.trace.is_wanted() ? &tracer_ : nullptr,
        .keeper = keeper_,
        .detached = options_.detached,
        .session = options_.session,
        .on_built = [this](Supervisor::Stage stage) { return make_ready(std::move(stage)); }});
    Outcome outcome = supervisor_->attend();
    orphans_->spare(chaperon_.process());
    orphans_->spare(ssh_agent_.process());
    if (!has_namespaces()) orphans_->end_all();
    return outcome;
}

// The jail is built. The command runs when this has succeeded and the gateway serves.
base::Status Session::make_ready(Supervisor::Stage stage) {
    // A mount keeps the sockets alive. In a directory of the session the names are needed to reach them.
    if (private_directory_.is_empty()) {
        notices_.forget_name();
        chaperon_.forget_name();
        ssh_agent_.forget_name();
    }
    base::Result<base::Fd> mounts =
        has_namespaces() ? mounts_of(plan_.backend, stage.process, std::move(stage.mounts)) : base::Fd();
    if (!mounts) return mounts.error();
    limit_watches(plan_.backend, *mounts);
    if (layer_) layers::note_mounts(*options_.layer, mounts->get());
    if (base::Status ready = factory_.await(); !ready) return ready;
    tell_shared_sockets(plan_, answers_, bool(stage.listener));
    home_.take(std::move(stage.home));
    if (base::Status guarded = keeper_.guard(stage.descriptor, {*mounts, stage.listener, home_}); !guarded)
        return guarded;
    if (!is_watched_) tell_unwatched(record_, plan_.project);
    jail_proc_ = std::move(stage.proc);
    if (base::Status watched = start_watch(limits_.watch, plan_, [this] { return meter(); }); !watched)
        return watched;
    if (plan_.ssh.is_open) ssh_agent_.get_ready(plan_.ssh, record_);
    if (plan_.slurm.is_open) chaperon_.get_ready(plan_, facts_, options_, open_files_.before(), &record_);
    return base::success();
}

// Nothing: the jail's processes can't be seen, or do not exist yet.
std::optional<Meter> Session::meter() const {
    const pid_t stage = supervisor_->stage_process();
    if (stage <= 0) return std::nullopt;
    std::vector<std::string> in_memory = memory_file_systems(plan_);
    Meter meter = jail_proc_ ? Meter::of_namespace(jail_proc_.get(), std::move(in_memory))
                             : Meter(stage, std::move(in_memory));
    return meter.can_see() ? std::optional(std::move(meter)) : std::nullopt;
}

// ---- Wind up: the jail is dead

base::Result<Ending> Session::wind_up(Outcome outcome) {
    base::Status copied = files_.finish();
    control_.close();
    const bool has_used_slurm = chaperon_.process() > 0;
    chaperon_.end();
    ssh_agent_.end();
    if (limits_.cgroup) look_back(*limits_.cgroup, outcome);
    factory_.tell_if_lost(keeper_.was_lost());
    share_interrupt(terminal_, outcome);
    terminal_.recover();

    std::vector<backends::Uncovered> uncovered = keeper_.uncovered();
    const std::string_view lost_reports = keeper_.lost_reports();
    if (!uncovered.empty() || !lost_reports.empty()) placeholders_->expect_content();
    placeholders_->release();
    std::vector<MovedName> moved = new_names_.move_away(backends::covers_of(plan_));
    record_moved(record_.writer(), moved);
    private_directory_.remove();
    record_uncovered(record_.writer(), uncovered);
    if (!lost_reports.empty()) record_lost_reports(record_.writer(), plan_.project, lost_reports);
    progress_.wait_until_written();
    SearchProgress::Report found = progress_.report();
    record_search(record_.writer(), found);
    Discarded discarded = home_.save();
    layers::release(std::move(layer_));
    keeper_.dismiss(has_used_slurm);

    network::gateway::Summary refusals = gateway_.finish();
    tracer::Summary trace = tracer_.finish();
    base::Result<Ending> ending = conclude(plan_, outcome);
    if (ending) {
        ending->landlock_abi = outcome.landlock_abi;
        ending->network = refusals;
        ending->trace = trace;
        // If the whole jail was killed, the gateway was only the first process to die.
        ending->has_lost_network = gateway_.was_lost() && outcome.ending;
        ending->refused_mails = outcome.refused_mails;
        ending->refused_settings = outcome.refused_settings;
        ending->moved_remotes = outcome.moved_remotes;
        ending->uncovered = std::move(uncovered);
        ending->moved = std::move(moved);
        ending->opened_masks = outcome.opened_masks;
        ending->refused_programs = outcome.refused_programs;
        ending->lost_reports = lost_reports;
        ending->search = std::move(found);
        ending->ended_commands = outcome.ended_commands;
        ending->has_used_slurm = has_used_slurm;
        ending->discarded = std::move(discarded);
        ending->record = record_.path();
        ending->unrecorded = unrecorded_;
        if (!copied) tell_lost_output(copied.error(), *ending);
    }
    auto duration = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began_);
    record_end(record_.writer(), ending,
               {.gateway = {refusals.lines, refusals.hash}, .tracer = {trace.lines, trace.hash}}, duration);
    if (ending) ending->head = record_.writer().head();
    if (ending) ending->lost_lines = record_.writer().lost();
    return ending;
}

}  // namespace

base::Result<Ending> run(const plan::Plan& plan, const host::Facts& facts, const SessionOptions& options) {
    base::fill_standard_descriptors();
    if (base::Status checked = check_inherited(plan); !checked) return checked.error();
    return Session(plan, facts, options).run();
}

}  // namespace session
