// SPDX-License-Identifier: MIT
#include "cli/scratch_project.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/no_links.h"
#include "base/process/descriptors.h"
#include "cli/broker.h"
#include "cli/verbs/run.h"
#include "cli/version.h"
#include "credentials/advice.h"
#include "session/directories.h"
#include "session/session.h"

namespace cli {
namespace {

constexpr size_t kMostPrinted = 8u << 20;
constexpr std::string_view kFile = "sandbox.conf";
constexpr int kTimeIsOver = 124;

void forget(config::Values& values) {
    values.erase("project.parents");
    values.erase("modules.load");
}

// A fixed strict jail that ignores all settings.
policy::Layers strict_layers() {
    constexpr std::pair<std::string_view, std::string_view> kValues[] = {
        {"home.access", "read"},    {"network.mode", "isolated"}, {"project.read_only", "true"},
        {"home.caches", "false"},   {"limits.wall_time", "10"},   {"slurm.mode", "off"},
        {"agents.notice", "false"}, {"devices.gpu", "off"}};
    policy::Layers layers;
    for (const auto& [key, text] : kValues)
        layers.command_line[std::string(key)] = {.origin = config::from_flag("config import"),
                                                 .text = std::string(text)};
    return layers;
}

// A run in an empty project.
struct ScratchRun {
    base::Path project;
    std::string session;
    std::vector<std::string> command;
    std::string probed = {};  // the credential that is added to every request to the host of its probe
};

void prepare_probe(credentials::Credential& credential) {
    credential.adds_always = true;
    auto host = std::ranges::find_if(credential.hosts, [&](const auto& pattern) {
        return pattern.matches(credential.probe->host, pattern.port.value_or(443));
    });
    // The session's own name for a credential leads to its first host.
    if (host != credential.hosts.end()) std::iter_swap(credential.hosts.begin(), host);
}

// Ignores project.parents, modules.load and the project's file in `layers`.
base::Result<Planned> plan_run(const Caller& caller, const Workspace& workspace, policy::Layers layers,
                               const ScratchRun& run) {
    for (auto* files : {&layers.admin, &layers.profile, &layers.user, &layers.preset}) {
        for (config::LayerFile& file : *files) forget(file.values);
    }
    layers.project.clear();
    forget(layers.variables);
    forget(layers.command_line);
    // Read the disk again: the caller's view is older than the project.
    Caller here{.environment = caller.environment, .working_directory = run.project};
    here.has_planted_home = caller.has_planted_home;
    base::Result<policy::Effective> effective =
        policy::merge(layers, path_meaning(here.disk, workspace.identity.home));
    if (!effective) return effective.error();
    policy::Policy policy = policy::policy_from(*effective);
    base::Result<credentials::Resolved> resolved = credentials::resolve(layers, policy);
    if (!resolved) return resolved.error();
    base::Result<std::vector<std::string>> settled =
        credentials::settle_variables(*resolved, here.environment, policy);
    if (!settled) return settled.error();
    for (credentials::Credential& credential : resolved->credentials) {
        if (credential.name == run.probed) prepare_probe(credential);
    }
    Settings settings{workspace,           {}, std::move(layers), *std::move(effective), std::move(policy),
                      *std::move(resolved)};
    settings.workspace.project = settings.workspace.physical_project = run.project;
    settings.workspace.project_origin = "--project";
    return plan_with(here, std::move(settings), run.session, run.command);
}

base::Result<base::Path> find_bash(const host::Tree& disk) {
    for (std::string_view name : {"/usr/bin/bash", "/bin/bash", "/usr/local/bin/bash"}) {
        base::Path path = base::Path::known(name);
        if (disk.look_through(path)) return path;
    }
    return base::Error{
        .what = "bash is not installed here, and a sandbox.conf is a script that only bash reads",
        .advice = "import the file on a machine that has bash"};
}

// Runs the session in a child: the pipe receives its output, or the reason if the jail can't be built.
[[noreturn]] void run_session(const Planned& planned, const session::SessionOptions& options, int output) {
    base::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    ::dup2(nothing.get(), STDIN_FILENO);
    ::dup2(nothing.get(), STDERR_FILENO);
    ::dup2(output, STDOUT_FILENO);
    base::Result<session::Ending> ending = session::run(planned.plan, planned.facts, options);
    if (!ending) {
        std::string reason = ending.error().line();
        (void)!::write(STDOUT_FILENO, reason.data(), reason.size());
        ::_exit(static_cast<int>(base::ExitCode::jail_failed));
    }
    ::_exit(ending->exit_code);
}

base::Result<std::string> output_of(const Planned& planned, const session::SessionOptions& options) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    base::Fd reading(ends[0]), writing(ends[1]);
    pid_t child = ::fork();
    if (child < 0) return base::system_error("start a process for the jail", errno);
    if (child == 0) run_session(planned, options, writing.get());
    writing.reset();
    base::Result<std::string> output = base::read_descriptor(reading.get(), kMostPrinted);
    reading.reset();
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (!output) return output.error();
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code == kTimeIsOver) return base::Error{.what = "bash needed longer than 10 seconds for it"};
    if (code == static_cast<int>(base::ExitCode::jail_failed))
        return base::Error{.what = "the jail in which bash evaluates it can't be built: " + *output};
    return output;
}

session::SessionOptions options_for(const Caller& caller, const Workspace& workspace,
                                    const std::string& session) {
    const std::string& state = workspace.files.state_directory;
    std::optional<std::string_view> runtime = host::variable(caller.environment, "XDG_RUNTIME_DIR");
    return {
        .state_directory = state,
        .session = session,
        .runtime_place = session::make_runtime_place(session::runtime_places(runtime.value_or(""), state)),
        .record = {.is_wanted = false},
        .version = std::string(version())};
}

}  // namespace

base::Result<ScratchProject> ScratchProject::make() {
    char name[] = "/tmp/agent-sandbox-check-XXXXXX";
    if (::mkdtemp(name) == nullptr) return base::system_error("make a directory in /tmp", errno);
    return ScratchProject(base::Path::known(name));
}

ScratchProject::~ScratchProject() {
    if (!path_.is_root()) base::remove_tree(path_.str());
}

base::Status check_start(const Caller& caller, const Workspace& workspace, policy::Layers layers) {
    base::Result<ScratchProject> project = ScratchProject::make();
    if (!project) return project.error();
    base::Result<Planned> planned =
        plan_run(caller, workspace, std::move(layers), {project->path(), "", {"true"}});
    return planned ? base::success() : base::Status(planned.error());
}

base::Result<std::string> run_probe(const Caller& caller, const Workspace& workspace, policy::Layers layers,
                                    const credentials::Credential& credential,
                                    const secrets::Surroundings& surroundings) {
    auto add = [&layers](const char* key, const std::string& text) {
        const config::Setting& setting = *config::find_setting(key);
        return config::add_text(layers.command_line, setting, text, config::from_flag("secret test"));
    };
    const std::pair<const char*, std::string> kValues[] = {
        {"network.mode", "proxied"},          {"network.allow", credential.probe->host},
        {"credentials.use", credential.name}, {"home.access", "restricted"},
        {"limits.wall_time", "30s"},          {"slurm.mode", "off"}};
    for (const auto& [key, text] : kValues) {
        if (base::Status added = add(key, text); !added) return added.error();
    }
    base::Result<ScratchProject> project = ScratchProject::make();
    if (!project) return project.error();
    base::Result<std::string> session = make_session_id();
    if (!session) return session.error();
    base::Result<Planned> planned =
        plan_run(caller, workspace, std::move(layers),
                 {project->path(),
                  *session,
                  {std::string(base::kOwnProgramPath), "__request", credential.name, credential.probe->method,
                   credential.probe->path},
                  credential.name});
    if (!planned) return planned.error();
    session::SessionOptions options = options_for(caller, workspace, *session);
    options.broker = trial_options(surroundings, *planned);
    return output_of(*planned, options);
}

base::Result<std::string> run_bash(const Caller& caller, const Workspace& workspace,
                                   const BashRequest& request) {
    base::Result<base::Path> bash = find_bash(caller.disk);
    if (!bash) return bash.error();
    base::Result<ScratchProject> project = ScratchProject::make();
    if (!project) return project.error();
    std::string file = (project->path() / kFile).str();
    if (base::Status written = base::write_file_atomically(file, std::string(request.text)); !written)
        return written.error();
    std::vector<std::string> command = {
        bash->str(), "--norc", "--noprofile", "-c", std::string(request.script), "agent-sandbox", file};
    command.insert(command.end(), request.arguments.begin(), request.arguments.end());
    base::Result<std::string> session = make_session_id();
    if (!session) return session.error();
    base::Result<Planned> planned =
        plan_run(caller, workspace, strict_layers(), {project->path(), *session, std::move(command)});
    if (!planned) return planned.error();
    session::SessionOptions options = options_for(caller, workspace, *session);
    return output_of(*planned, options);
}

}  // namespace cli
