// SPDX-License-Identifier: MIT
// Theory of operation. A process that can reach munge acts on the cluster as the user, and slurmstepd opens
// files and runs hooks as the user outside of any jail. So the jail can't reach anything that talks to Slurm,
// and gets stubs instead. The chaperon, outside, has the credentials. This file decides which commands the
// chaperon may run and under which names the stubs are mounted.
#include <strings.h>

#include <algorithm>

#include "base/inside/jail_files.h"
#include "base/text.h"
#include "plan/draft.h"
#include "slurm/options/option.h"

namespace plan {
namespace {

// Where sites install Slurm, whether or not PATH contains the directory.
constexpr std::string_view kSlurmPlaces[] = {"/usr/bin", "/usr/local/bin", "/opt/slurm/bin",
                                             "/usr/local/slurm/bin", "/cm/shared/apps/slurm/current/bin"};
// One of these is in every installation.
constexpr std::string_view kMarks[] = {"squeue", "sbatch"};

// Configuration of Slurm and of munge, and the sockets that authenticate a caller by user id alone.
constexpr std::string_view kHidden[] = {"/etc/slurm",       "/etc/slurm-llnl",   "/etc/munge",
                                        "/run/munge",       "/var/run/munge",    "/opt/slurm/etc",
                                        "/var/spool/slurm", "/var/spool/slurmd", "/var/lib/slurm"};
constexpr std::string_view kConfigurations[] = {"/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf",
                                                "/opt/slurm/etc/slurm.conf"};
constexpr size_t kLargestConfiguration = 4u << 20;

std::optional<host::Tree::Resolved> existing(const Draft& draft, std::string_view text) {
    base::Result<base::Path> literal = base::Path::parse(text);
    if (!literal) return std::nullopt;
    base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(*literal);
    if (!resolved || !resolved->exists) return std::nullopt;
    return *resolved;
}

void hide(Draft& draft, std::string_view text, std::string why) {
    if (auto place = existing(draft, text))
        draft.add_rule(place->path, Access::hidden, {std::move(why), draft.policy().slurm.mode_origin});
}

// The value of "Key=value", keys in any case; nothing for another line.
std::optional<std::string_view> value_of(std::string_view line, std::string_view key) {
    std::string_view entry = base::trim(line);
    bool is_key = entry.size() > key.size() && entry[key.size()] == '=' &&
                  ::strncasecmp(entry.data(), key.data(), key.size()) == 0;
    if (!is_key) return std::nullopt;
    entry.remove_prefix(key.size() + 1);
    return entry.substr(0, entry.find_first_of(" \t#"));
}

// Paths that slurm.conf moves: munge's socket (AuthInfo=…socket=/path…), and the directory where slurmd and
// its steps listen, which authenticate a caller by user id alone.
void hide_configured_places(Draft& draft, std::string_view configuration) {
    auto place = existing(draft, configuration);
    if (!place) return;
    base::Result<std::string> text = draft.tree().read(place->path, kLargestConfiguration);
    if (!text) return;
    for (std::string_view line : base::split(*text, '\n')) {
        if (auto info = value_of(line, "AuthInfo")) {
            size_t at = info->find("socket=");
            if (at == std::string_view::npos) continue;
            std::string_view socket = info->substr(at + 7);
            hide(draft, socket.substr(0, socket.find_first_of(",;")),
                 "munge speaks to the cluster as the user");
        }
        if (auto spool = value_of(line, "SlurmdSpoolDir")) {
            // With the node's name in it (%n, %h): hide the directories of all nodes.
            size_t pattern = spool->find('%');
            if (pattern != std::string_view::npos) spool = spool->substr(0, spool->rfind('/', pattern));
            if (spool->size() > 1) hide(draft, *spool, "Slurm's daemons listen there");
        }
    }
}

std::vector<std::string_view> command_names() {
    std::vector<std::string_view> names;
    for (const slurm::Command& command : slurm::commands()) names.push_back(command.name);
    for (const slurm::RefusedCommand& command : slurm::refused_commands()) names.push_back(command.name);
    return names;
}

// Directories with Slurm's commands, those of PATH first.
std::vector<base::Path> slurm_places(const Draft& draft) {
    std::vector<base::Path> found;
    auto add = [&](std::string_view text) {
        auto place = existing(draft, text);
        if (!place || std::ranges::find(found, place->path) != found.end()) return;
        bool has_slurm = std::ranges::any_of(kMarks, [&](std::string_view mark) {
            return draft.tree().glance(place->path / mark).has_value();
        });
        if (has_slurm) found.push_back(place->path);
    };
    std::optional<std::string_view> path = host::variable(draft.inputs.request.environment, "PATH");
    if (path)
        for (std::string_view text : base::split(*path, ':')) add(text);
    for (std::string_view text : kSlurmPlaces) add(text);
    return found;
}

// The chaperon must not run a file that the jail can write.
bool is_out_of_reach(const Draft& draft, const base::Path& file) {
    if (file.is_within(draft.home) || file.is_within(draft.project)) return false;
    const PathRule* rule = draft.rules.decide(file);
    return rule == nullptr || rule->access != Access::writable || rule->backing != Backing::host;
}

bool is_shown(const Draft& draft, const base::Path& file) {
    const PathRule* rule = draft.rules.decide(file);
    return rule != nullptr && rule->access == Access::readonly && rule->backing == Backing::host;
}

void find_commands(Draft& draft, std::vector<base::Path>& covered) {
    std::vector<SlurmCommand>& commands = draft.plan.slurm.commands;
    for (const base::Path& place : slurm_places(draft)) {
        for (std::string_view name : command_names()) {
            if (!draft.tree().glance(place / name)) continue;
            base::Result<host::Tree::Resolved> file = draft.tree().resolve(place / name);
            if (!file || !file->exists || !is_out_of_reach(draft, file->path)) continue;
            if (std::ranges::find(commands, name, &SlurmCommand::name) == commands.end())
                commands.push_back({std::string(name), file->path});
            // A wrapper with another name, to which many names lead, is not covered: without the
            // configuration and munge it can do nothing.
            bool is_new = std::ranges::find(covered, file->path) == covered.end();
            if (is_new && file->path.name() == name && is_shown(draft, file->path))
                covered.push_back(file->path);
        }
    }
}

// The jail and Slurm, which runs it outside, must use the same program, so the jail must not be able to write
// it.
bool can_be_trusted_with_jobs(const Draft& draft, const base::Path& program) {
    const PathRule* rule = draft.rules.decide(program);
    bool is_writable = rule != nullptr && rule->access == Access::writable && rule->backing == Backing::host;
    return !is_writable;
}

}  // namespace

void hide_slurm(Draft& draft) {
    for (std::string_view place : kHidden)
        hide(draft, place, "of Slurm and munge, which the jail asks through stubs");
    for (std::string_view configuration : kConfigurations) hide_configured_places(draft, configuration);
    std::optional<std::string_view> chosen = host::variable(draft.inputs.request.environment, "SLURM_CONF");
    if (!chosen) return;
    hide_configured_places(draft, *chosen);
    hide(draft, *chosen, "Slurm's configuration");
}

void open_slurm(Draft& draft) {
    Slurm& slurm = draft.plan.slurm;
    const auto& policy = draft.policy().slurm;
    std::vector<base::Path> covered;
    find_commands(draft, covered);
    if (slurm.commands.empty()) return;
    const Reason reason{"Slurm through the chaperon", policy.mode_origin};
    for (const base::Path& path : covered) {
        draft.after_rules.push_back(Mount{.kind = MountKind::bind_readonly,
                                          .target = path,
                                          .source = draft.inputs.facts.own_program.str(),
                                          .reason = reason});
    }
    for (const SlurmCommand& command : slurm.commands) {
        draft.assembled.push_back(Mount{.kind = MountKind::symlink,
                                        .target = draft.own / base::kStubs / command.name,
                                        .source = draft.own_program().str(),
                                        .reason = reason});
    }
    slurm.scope = policy.scope;
    slurm.network = policy.network;
    slurm.program = policy.program.value_or(draft.inputs.facts.own_program);
    for (const config::Item& item : policy.spank_options) slurm.spank_options.push_back(item.text);
    if (policy.mode == policy::SlurmMode::off) return;
    if (draft.plan.is_layered) {
        draft.note(NoteKind::information,
                   "Slurm is closed with --cow: a job would write to the project itself");
        return;
    }
    if (!can_be_trusted_with_jobs(draft, slurm.program)) {
        draft.note(NoteKind::protection,
                   base::format("Slurm is closed: {}, which Slurm would run outside the jail, lies where the "
                                "jail can write; install it elsewhere",
                                slurm.program.str()));
        return;
    }
    slurm.is_open = true;
    draft.assembled.push_back(Mount{.kind = MountKind::helper_socket,
                                    .target = draft.own / base::kSlurmSocket,
                                    .source = "slurm",
                                    .reason = reason});
}

// The jail of a Slurm job or step. Outside a jail, Slurm's step manager prepares the command; here a process
// inside the jail does it, and reads these files.

void add_rank_directories(Draft& draft) {
    if (!draft.inputs.request.job) return;
    for (const base::Path& path : draft.inputs.request.job->rank_directories) {
        base::Result<host::Tree::Resolved> place = draft.tree().resolve(path);
        if (place && place->exists)
            draft.add_rule(place->path, Access::writable, {"where the ranks of the step meet", {}});
    }
}

void add_job(Draft& draft) {
    const std::optional<JobRequest>& job = draft.inputs.request.job;
    if (!job) return;
    draft.plan.project_inode = job->project_inode;
    draft.plan.kept_descriptors = job->descriptors;
    draft.plan.skipped_processes = job->rank_on_node;
    draft.plan.is_job = true;
    draft.assembled.push_back(Mount{.kind = MountKind::file,
                                    .target = draft.own / base::kJob,
                                    .source = job->spec,
                                    .reason = {"what the job is to do", {}}});
    if (job->is_batch) {
        draft.assembled.push_back(Mount{.kind = MountKind::file,
                                        .target = draft.own / base::kJobScript,
                                        .source = job->script,
                                        .is_executable = true,
                                        .reason = {"the job's script", {}}});
    }
    // Ranks of one job on one node exchange files and memory; other jobs can't see them.
    if (!job->temporary.is_root() && draft.policy().isolation.private_tmp) {
        draft.caches.push_back(Mount{.kind = MountKind::bind_writable,
                                     .target = base::Path::known("/tmp"),
                                     .source = job->temporary.str(),
                                     .reason = {"temporary files of the job on this node", {}}});
    }
}

}  // namespace plan
