// SPDX-License-Identifier: MIT
#include "session/steps.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "base/inside/jail_files.h"
#include "base/no_links.h"
#include "base/text.h"
#include "layers/tree.h"
#include "plan/backend.h"
#include "session/control/history.h"
#include "session/guard/cover_guard.h"
#include "session/helpers/backends.h"
#include "session/limits/limits.h"
#include "session/limits/watch.h"

namespace session {
namespace {

base::Result<DescriptorChannel> make_channel() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return base::system_error("make a socket", errno);
    return DescriptorChannel{base::Fd(ends[0]), base::Fd(ends[1])};
}

}  // namespace

base::Result<Placeholders> acquire_placeholders(const plan::Plan& plan, const SessionOptions& options) {
    std::vector<base::Path> wanted;
    Placeholders::Contents contents;
    for (const plan::Placeholder& placeholder : plan.placeholders) {
        wanted.push_back(placeholder.path);
        if (placeholder.content) contents.emplace(placeholder.path, *placeholder.content);
    }
    return Placeholders::acquire(options.state_directory, std::move(wanted), contents, plan.project);
}

// bubblewrap mounts names of the clone on themselves, so those that the plan adds must exist. The native
// backend makes them.
static base::Status make_places(const plan::Plan& plan, const base::Path& clone) {
    if (plan.backend == base::Backend::native) return base::success();
    for (const plan::Mount& mount : plan.mounts) {
        bool is_bind =
            mount.kind == plan::MountKind::bind_readonly || mount.kind == plan::MountKind::bind_writable;
        bool is_place = std::ranges::find(plan.layer_places, mount.target) != plan.layer_places.end();
        if (!is_bind || !is_place) continue;
        const base::Path place = clone / mount.target.relative_to(plan.project);
        if (base::Status made = base::make_directories_without_links(place, 0700); !made) return made;
    }
    return base::success();
}

base::Result<base::Fd> open_layer(const plan::Plan& plan, layers::Layer layer) {
    struct stat status;
    if (::stat(plan.project.c_str(), &status) != 0)
        return base::system_error("read " + base::printable(plan.project.str()), errno);
    const bool is_new = layer.about.start == 0;
    if (!is_new && layer.about.project_inode != status.st_ino)
        return base::Error{
            .what = base::format("{} is not the directory that the layer {} was made for",
                                 base::printable(plan.project.str()), base::printable(layer.about.title())),
            .advice = "use another name with --layer"};
    // The clock of the whole launch: the command sees the project as it is a few milliseconds later.
    struct timespec now;
    ::clock_gettime(CLOCK_REALTIME, &now);
    if (is_new) layer.about.start = layers::nanoseconds(now);
    layer.about.project_inode = status.st_ino;
    for (const base::Path& place : plan.layer_places)
        layer.about.places.emplace_back(place.relative_to(plan.project));
    base::Result<base::Fd> lock = layers::open_for_session(layer, status.st_mode);
    if (lock && layer.is_clone) {
        if (base::Status made = make_places(plan, base::Path::known(layer.present())); !made)
            return made.error();
    }
    return lock;
}

SocketName socket_name(const plan::Plan& plan, const SessionOptions& options, std::string_view inside,
                       std::string_view outside) {
    if (!plan.private_directory.path.is_root())
        return {plan.private_directory.path.str(), std::string(inside)};
    return {options.state_directory + "/" + std::string(outside), options.session};
}

bool can_be_notified(const plan::Plan& plan) {
    return plan::traits_of(plan.backend).has_namespaces;
}

base::Result<DescriptorChannel> open_handoff(const plan::Plan& plan) {
    bool is_needed = plan::traits_of(plan.backend).hands_connections && plan.network.egress.needs_gateway();
    return is_needed ? make_channel() : DescriptorChannel{};
}

base::Result<DescriptorChannel> open_listener_channel(const plan::Plan& plan) {
    if (!sets_up_network(plan.backend) || !plan.network.egress.needs_gateway()) return DescriptorChannel{};
    return make_channel();
}

base::Status begin_record(Record& record, const plan::Plan& plan, const SessionOptions& options,
                          const std::string& policy) {
    if (!options.record.is_wanted) return base::success();
    base::Status opened = record.open(options.state_directory + "/sessions", options.session, options.record);
    if (opened) record_start(record.writer(), plan, options, policy);
    bool is_lost = opened && record.writer().lost() > 0;
    if (opened && !(is_lost && options.record.is_required)) return opened;
    if (is_lost) ::unlink(record.path().c_str());
    base::Error error =
        is_lost ? base::Error{.what = "cannot write the record " + record.path()} : opened.error();
    error.advice = "make room there, or set XDG_STATE_HOME to a directory that you can write";
    return error;
}

std::map<std::string, std::string> sockets_of(const Notices& notices, const Chaperon& chaperon,
                                              const SshAgent& ssh_agent) {
    std::map<std::string, std::string> sockets;
    std::string_view inside = notices.rings() ? base::kNotifySocket : base::kMailSocket;
    if (!notices.path().empty()) sockets[std::string(inside)] = notices.path();
    if (!chaperon.path().empty()) sockets["slurm"] = chaperon.path();
    if (!ssh_agent.path().empty()) sockets[std::string(base::kSshAgentSocket)] = ssh_agent.path();
    return sockets;
}

Gateway::Record shared_with_gateway(const Record& record) {
    if (!record.is_open()) return {};
    Record::Share share = record.share();
    return {std::move(share.file), share.is_chained, std::move(share.seed), share.part_size};
}

base::Result<std::optional<network::gateway::BrokerInputs>> broker_inputs(const plan::Plan& plan,
                                                                          const SessionOptions& options) {
    const network::exchange::BrokerSpec& spec = plan.broker.spec;
    if (spec.is_empty()) return std::optional<network::gateway::BrokerInputs>();
    network::gateway::BrokerInputs inputs{.spec = spec,
                                          .intermediate = {},
                                          .roots = plan.broker.roots,
                                          .records_paths = options.broker.records_paths};
    if (spec.intercepts && options.broker.certificates)
        inputs.intermediate = std::move(options.broker.certificates->intermediate);
    return std::optional(std::move(inputs));
}

LiveRules::Names live_names(const plan::Plan& plan, const SessionOptions& options) {
    const network::exchange::BrokerSpec& spec = plan.broker.spec;
    bool has_certificates =
        spec.intercepts && options.broker.certificates && options.broker.certificates->maker;
    if (!has_certificates) return {};
    base::Result<network::requests::RequestRules> rules =
        network::requests::RequestRules::make(spec.requests);
    if (!rules) return {};
    return {.names = spec.certificate_names(*rules), .maker = options.broker.certificates->maker};
}

Asks::Parts asks_parts(Control& control, const SessionOptions& options, LiveRules& live,
                       const Notices& notices, audit::Writer& record) {
    auto open_host = [&live](std::string target, const Asks::OnOpened& on_opened) {
        live.add({LiveRule::Kind::allow, std::move(target)},
                 [on_opened](const base::Result<LiveRules::Changed>& changed) {
                     on_opened(changed ? base::success() : base::Status(changed.error()));
                 });
    };
    return {.control = control,
            .record = record,
            .rules = options.asks,
            .open_host = open_host,
            .notify = [&notices](std::string_view text) {
                if (notices.rings()) (void)ring_terminal(text);
            }};
}

base::Error abandon(const backends::Launched& launched, const Orphans& orphans, const base::Error& error) {
    ::kill(launched.process, SIGKILL);
    while (::waitpid(launched.process, nullptr, 0) < 0 && errno == EINTR) continue;
    orphans.end();
    return error;
}

base::Result<base::Fd> mounts_of(base::Backend backend, pid_t stage, base::Fd handed_out) {
    if (handed_out) return handed_out;
    base::Fd found = backends::mount_namespace_of(stage);
    // EACCES: a set-uid program made the namespace. EPERM: the same, where /proc hides its processes
    // (hidepid=1). ENOENT: the jail may be dead already.
    bool is_out_of_reach =
        errno == EACCES || errno == ENOENT || (errno == EPERM && backend == base::Backend::firejail);
    if (!found && !is_out_of_reach) return base::system_error("watch over the mounts of the jail", errno);
    return found;
}

base::Status start_watch(Watch& watch, const plan::Plan& plan,
                         const std::function<std::optional<Meter>()>& find_meter) {
    Watch::Source source;
    if (watch.bounds().needs_meter()) {
        const bool is_memory = watch.bounds().memory > 0;
        const policy::Limit& limit = is_memory ? plan.limits.memory : plan.limits.idle_time;
        std::optional<Meter> meter = find_meter();
        if (!meter) return unmeasurable(limit, is_memory ? "limits.memory" : "limits.idle_time");
        source.memory = [meter = *meter, most = watch.bounds().memory] { return meter.memory(most); };
        source.processor_ticks = [meter = *meter] { return meter.processor_ticks(); };
    }
    watch.start(Watch::Clock::now(), std::move(source));
    return base::success();
}

void tell_unwatched(Record& record, const base::Path& project) {
    (void)base::write_all(
        STDERR_FILENO,
        base::format(
            "agent-sandbox: {}; end programs that watch files, or let the administrator raise the limits\n",
            kUnwatched));
    record_unwatched(record.writer(), project);
}

void look_back(const Cgroup& cgroup, Outcome& outcome) {
    Cgroup::Events events = cgroup.events();
    outcome.refused_processes = events.refused_processes;
    if (events.ran_out_of_memory && !outcome.ending) outcome.reached = "limits.memory";
}

void share_interrupt(const Terminal& terminal, const Outcome& outcome) {
    bool was_interrupted = outcome.ending && outcome.ending->by_signal && outcome.ending->number == SIGINT;
    if (was_interrupted && terminal.is_given()) ::kill(0, SIGINT);
}

void tell_lost_output(const base::Error& error, Ending& ending) {
    if (ending.exit_code == 0) ending.exit_code = 1;
    ending.by_limit = true;
    ending.reason = (ending.reason.empty() ? "" : ending.reason + "; ") + error.line();
}

namespace {

bool shares_network(const plan::Plan& plan) {
    return plan.network.reached == policy::NetworkMode::open || !plan::traits_of(plan.backend).has_namespaces;
}

int option(int socket, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return ::getsockopt(socket, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

// A connected or listening socket can't be used for another address. A pair of datagram sockets can be
// disconnected.
bool is_free_unix_socket(int descriptor) {
    if (option(descriptor, SO_DOMAIN) != AF_UNIX) return false;
    struct sockaddr_un peer = {};
    socklen_t size = sizeof peer;
    bool is_connected = ::getpeername(descriptor, reinterpret_cast<struct sockaddr*>(&peer), &size) == 0;
    bool is_datagram = option(descriptor, SO_TYPE) == SOCK_DGRAM;
    return is_datagram || !(is_connected || option(descriptor, SO_ACCEPTCONN) == 1);
}

base::Error refusal(int descriptor, const char* what) {
    return {.what = base::format("descriptor {}{}", descriptor, what),
            .advice = "redirect it from a file or from /dev/null"};
}

}  // namespace

// Threat: through an inherited directory descriptor the command can reach the host's files around that
// directory, whatever the jail shows (tests/jail/processes.bats). An inherited Unix socket belongs to the
// host's network namespace: with it the command can bind and reach abstract names there
// (tests/jail/sockets.bats).
base::Status check_inherited(const plan::Plan& plan) {
    std::vector<int> inherited = plan.kept_descriptors;
    inherited.insert(inherited.end(), {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
    for (int descriptor : inherited) {
        if (base::Status checked = check_inherited(plan, descriptor, descriptor); !checked) return checked;
    }
    return base::success();
}

base::Status check_inherited(const plan::Plan& plan, int descriptor, int number) {
    struct stat status;
    if (::fstat(descriptor, &status) != 0) return base::success();
    if (S_ISDIR(status.st_mode))
        return refusal(number, " is a directory, through which the command would leave the jail");
    if (S_ISSOCK(status.st_mode) && shares_network(plan) && is_free_unix_socket(descriptor))
        return refusal(number,
                       " is a Unix socket without a fixed other end, by which the command would reach "
                       "abstract sockets of the host");
    return base::success();
}

}  // namespace session
