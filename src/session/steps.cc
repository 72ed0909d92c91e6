// SPDX-License-Identifier: MIT
#include "session/steps.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "backends/channels.h"
#include "base/format.h"
#include "base/inside/paths_inside.h"
#include "plan/backend.h"
#include "session/control/history.h"
#include "session/guard/cover_watch.h"
#include "session/helpers/backends.h"
#include "session/limits/limits.h"
#include "session/limits/usage.h"

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

std::map<std::string, std::string> sockets_of(const Notices& notices, const Chaperon& chaperon) {
    std::map<std::string, std::string> sockets;
    std::string_view inside = notices.rings() ? base::kNotifySocket : base::kMailSocket;
    if (!notices.path().empty()) sockets[std::string(inside)] = notices.path();
    if (!chaperon.path().empty()) sockets["slurm"] = chaperon.path();
    return sockets;
}

Gateway::Record shared_with_gateway(const Record& record) {
    if (!record.is_open()) return {};
    Record::Share share = record.share();
    return {std::move(share.file), share.is_chained, std::move(share.seed), share.part_size};
}

base::Error abandon(const backends::Launched& launched, const Orphans& orphans, const base::Error& error) {
    ::kill(launched.process, SIGKILL);
    while (::waitpid(launched.process, nullptr, 0) < 0 && errno == EINTR) continue;
    orphans.end();
    return error;
}

base::Result<base::Fd> mounts_of(pid_t stage, base::Fd handed_out) {
    if (handed_out) return handed_out;
    base::Fd found = backends::mount_namespace_of(stage);
    // EACCES: a set-uid program made the namespace. ENOENT: the jail may be dead already.
    bool is_out_of_reach = errno == EACCES || errno == ENOENT;
    if (!found && !is_out_of_reach) return base::system_error("watch over the mounts of the jail", errno);
    return found;
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

}  // namespace session
