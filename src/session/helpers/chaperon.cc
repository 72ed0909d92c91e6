// SPDX-License-Identifier: MIT
#include "session/helpers/chaperon.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/inside/jail_files.h"
#include "base/text.h"
#include "session/control/record.h"
#include "session/helpers/detach_helper.h"
#include "slurm/chaperon/serve.h"
#include "slurm/jobs/environment.h"
#include "slurm/jobs/spec.h"
#include "slurm/queries/handlers.h"
#include "slurm/submit/handlers.h"

namespace session {
namespace {

// Length of the listen queue: a job array of scripts makes bursts of hundreds of stubs.
constexpr int kStubBacklog = 512;

using slurm::chaperon::Clients;
using slurm::chaperon::Context;

Clients open_clients(const plan::Slurm& slurm) {
    Clients clients;
    for (const plan::SlurmCommand& command : slurm.commands) clients.add(command.name, command.path);
    return clients;
}

// Zero is never the inode of a directory: the nodes refuse jobs of a project that can't be found.
uint64_t inode_of(const base::Path& directory) {
    struct stat status;
    return ::stat(directory.str().c_str(), &status) == 0 ? status.st_ino : 0;
}

std::vector<std::string> set_by_jail(const plan::Plan& plan) {
    std::vector<std::string> entries;
    for (const plan::Variable& variable : plan.environment.passed) {
        if (slurm::is_set_by_jail(variable.name))
            entries.push_back(base::format("{}={}", variable.name, variable.value));
    }
    return entries;
}

std::vector<slurm::chaperon::SessionCredential> session_credentials(const plan::Plan& plan) {
    std::vector<slurm::chaperon::SessionCredential> credentials;
    for (size_t i = 0; i < plan.broker.credentials.size() && i < plan.broker.spec.bindings.size(); ++i) {
        slurm::chaperon::SessionCredential made{.name = plan.broker.credentials[i].name,
                                                .placeholders = {},
                                                .variables = plan.broker.credentials[i].variables};
        for (std::string_view part : base::split(plan.broker.spec.bindings[i].placeholder, ' '))
            if (!part.empty()) made.placeholders.emplace_back(part);
        credentials.push_back(std::move(made));
    }
    return credentials;
}

// The session's root certificate and its own names for hosts: a job's jail has neither.
std::vector<std::string> session_variables(const plan::Plan& plan) {
    const std::string trust = base::format("{}/trust/", base::kOwnDirectory);
    std::vector<std::string> entries;
    for (const plan::Variable& variable : plan.environment.passed) {
        auto has = [&](std::string_view text) { return variable.value.find(text) != std::string::npos; };
        bool is_of_session = has(trust) || has(network::exchange::kEndpointSuffix);
        if (is_of_session) entries.push_back(base::format("{}={}", variable.name, variable.value));
    }
    return entries;
}

std::vector<slurm::chaperon::WritablePlace> writable_places(const plan::Plan& plan) {
    std::vector<slurm::chaperon::WritablePlace> places;
    for (const plan::PathRule& rule : plan.rules) {
        if (rule.access == plan::Access::writable)
            places.push_back({rule.path, rule.backing == plan::Backing::host});
    }
    return places;
}

Context context_of(const plan::Plan& plan, const host::Facts& facts, const SessionOptions& options,
                   uint64_t project_inode) {
    return Context{.session = options.jobs.session,
                   .project = plan.project,
                   .project_inode = project_inode,
                   .scope = plan.slurm.scope,
                   .uid = facts.identity.uid,
                   .user = facts.identity.user,
                   .home = facts.identity.home,
                   .mail_is_closed = plan.network.closes_mail,
                   .program = plan.slurm.program.str(),
                   .state_directory = options.state_directory,
                   .launcher_job = facts.slurm_job.id,
                   .environment = options.jobs.environment,
                   .jail_environment = set_by_jail(plan),
                   .places = writable_places(plan),
                   .credentials = session_credentials(plan),
                   .session_variables = session_variables(plan),
                   .job_options = options.jobs.options,
                   .job_variables = options.jobs.variables,
                   .spank_options = plan.slurm.spank_options,
                   .clients = open_clients(plan.slurm)};
}

// The chaperon has its own chain. It writes to the part of the record that is current at its start, because
// it writes few lines.
audit::Writer record_for(const Record* record) {
    if (record == nullptr || !record->is_open()) return {};
    Record::Share share = record->share();
    return {std::move(share.file), share.is_chained ? "slurm" : "", share.seed, 0};
}

// The commands of both folders; no name is in both.
slurm::chaperon::Handlers handlers() {
    slurm::chaperon::Handlers all = slurm::queries::query_handlers();
    all.merge(slurm::submit_handlers());
    return all;
}

void limit_open_files(uint64_t soft) {
    struct rlimit limit;
    if (soft == 0 || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = soft;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

base::Status Chaperon::open(const std::string& directory, const std::string& name) {
    bool is_open = socket_.open(directory, name, SOCK_STREAM) && ::listen(socket_.get(), kStubBacklog) == 0;
    if (is_open) return base::success();
    base::Error error = base::system_error("make the socket for Slurm in " + directory, errno);
    error.advice = "make room there, or use --slurm off";
    return error;
}

void Chaperon::get_ready(const plan::Plan& plan, const host::Facts& facts, const SessionOptions& options,
                         uint64_t open_files, const Record* record) {
    ready_.emplace(Ready{plan, facts, options, open_files, inode_of(plan.project), record});
}

void Chaperon::start() {
    if (!ready_) return;
    const SessionOptions& options = ready_->options;
    int ends[2];
    if (!socket_ || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return socket_.close();
    life_ = base::Fd(ends[0]);
    base::Fd theirs(ends[1]);
    Context context = context_of(ready_->plan, ready_->facts, options, ready_->project_inode);
    pid_t supervisor = ::getpid();
    process_ = ::fork();
    if (process_ != 0) {
        socket_.close();
        return;
    }
    life_.reset();
    base::Fd listener = socket_.take();
    audit::Writer record = record_for(ready_->record);
    std::vector<int> kept = {listener.get(), theirs.get()};
    if (record) kept.push_back(record.descriptor());
    for (int client : context.clients.descriptors()) kept.push_back(client);
    step_aside(supervisor, "asb-chaperon", std::move(kept));
    ::prctl(PR_SET_DUMPABLE, 0);
    // The kernel reparents orphans of the chaperon's children to the chaperon.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    limit_open_files(ready_->open_files);
    std::string logs = options.state_directory + "/slurm/log";
    slurm::remove_old_records(options.state_directory, ::time(nullptr));
    remove_old_logs(logs, kLongestKept, ::time(nullptr));
    ::_exit(slurm::chaperon::serve(context, handlers(),
                                   {std::move(listener), std::move(theirs),
                                    base::format("{}/{}.jsonl", logs, options.session), std::move(record)}));
}

void Chaperon::end() {
    life_.reset();
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
    process_ = -1;
}

}  // namespace session
