// SPDX-License-Identifier: MIT
// Theory of operation. Slurm runs this program outside of any jail, as the user. It reads the job's spec,
// builds the jail with the session's options and the files of this node, and runs the payload in it
// (slurm/entry). The payload does everything that the agent may choose. Before the jail exists, this program
// does not open, follow or execute anything that the agent chose.
#include "cli/slurm/slurm_entry.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/inside/jail_files.h"
#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/verbs/run.h"
#include "inner/stage.h"
#include "session/slurm_job.h"
#include "slurm/entry/payload.h"
#include "slurm/entry/rank_channel.h"
#include "slurm/jobs/spec.h"

namespace cli {
namespace {

constexpr size_t kLargestFile = 8u << 20;

base::Result<slurm::Spec> read_spec(int argc, char** argv, std::vector<std::string>& environment) {
    base::Result<std::optional<slurm::Spec>> step = slurm::take_step_variables(environment);
    if (!step) return step.error();
    if (*step) return **std::move(step);
    if (argc < 3) return base::Error{.what = "this is how Slurm starts a job; it is not for people"};
    base::Result<std::string> text = base::read_file(argv[2], kLargestFile);
    if (!text) return text.error();
    return slurm::spec_from_job_file(*text);
}

// Descriptors that Slurm's MPI plug-ins pass to a task, from the variables that name them.
std::vector<int> descriptors_of_ranks(const std::vector<std::string>& environment) {
    std::vector<int> descriptors;
    for (std::string_view name : {"PMI_FD"}) {
        std::string_view text = host::variable(environment, name).value_or("");
        int number = base::leading_number<int>(text).value_or(-1);
        if (number > STDERR_FILENO && ::fcntl(number, F_GETFD) >= 0 && slurm::guard_rank_channel(number))
            descriptors.push_back(number);
    }
    return descriptors;
}

// No node has more ranks than this.
constexpr unsigned kMostRanks = 4096;

unsigned number_in(const std::vector<std::string>& environment, std::string_view name) {
    std::string_view text = host::variable(environment, name).value_or("");
    return std::min(base::leading_number<unsigned>(text).value_or(0), kMostRanks);
}

// Open MPI uses PMIx and distinguishes its ranks by their process IDs. MPICH uses PMI and checks whether the
// process with the other rank's ID is alive; with equal IDs it finds itself.
unsigned distinct_number(const std::vector<std::string>& environment) {
    if (!host::variable(environment, "PMIX_RANK")) return 0;
    return number_in(environment, "SLURM_LOCALID");
}

// PMIx keeps the sockets and the memory of a step in a directory. Slurm creates it for the user alone.
std::vector<base::Path> directories_of_ranks(const std::vector<std::string>& environment) {
    std::string_view text = host::variable(environment, "PMIX_SERVER_TMPDIR").value_or("");
    base::Result<base::Path> path = base::Path::parse(text);
    struct stat status;
    bool is_ours = path && ::lstat(path->str().c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                   status.st_uid == ::getuid();
    return is_ours ? std::vector<base::Path>{*path} : std::vector<base::Path>{};
}

// Disable transports that open the other process by its process ID, which differs in every jail. Transports
// by name still work.
constexpr std::string_view kByName[] = {"OMPI_MCA_btl_vader_single_copy_mechanism=none",
                                        "UCX_POSIX_USE_PROC_LINK=n"};

void adapt_to_ranks(std::vector<std::string>& environment) {
    for (std::string_view entry : kByName) {
        if (!host::variable(environment, entry.substr(0, entry.find('=')))) environment.emplace_back(entry);
    }
}

// Removes the file that Slurm opened for messages about the start, if it is empty.
void remove_empty_output() {
    struct stat status;
    char path[4096];
    if (::fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != 0) return;
    ssize_t length = ::readlink("/proc/self/fd/1", path, sizeof path - 1);
    if (length > 0) ::unlink(std::string(path, static_cast<size_t>(length)).c_str());
}

// Slurm records how its process ended, so end with the same status or signal.
int end_like(const Ran& ran) {
    if (!ran.ending || !ran.ending->by_signal) return ran.exit_code;
    int number = ran.exit_code - session::kSignalBase;
    struct rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    sigset_t all;
    sigfillset(&all);
    std::signal(number, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &all, nullptr);
    ::raise(number);
    return ran.exit_code;
}

// Threat: a process that can write beside the project replaces it by another directory, or by a link, while
// the job waits. Compare only the inode: device numbers of a network file system differ between nodes.
base::Status check_project(const slurm::Spec& spec) {
    struct stat status;
    if (::stat(spec.project.c_str(), &status) != 0) {
        base::Error error = base::system_error("find the project " + spec.project, errno);
        error.advice = "the node must have it under the same path";
        return error;
    }
    if (status.st_ino == spec.project_inode) return base::success();
    return base::Error{
        .what = base::printable(spec.project) + " is another directory than when the job was submitted",
        .advice = "submit it again"};
}

// /tmp and /dev/shm of the job on this node. Without them the job runs, but its steps do not share files
// there, so print a warning.
void enter_job_directory(session::JobDirectory& job_directory, const Caller& caller,
                         const Arguments& arguments, const Output& output) {
    std::string job(host::variable(caller.environment, "SLURM_JOB_ID").value_or(""));
    base::Result<Workspace> found = find_workspace(caller, arguments);
    base::Result<std::string> key =
        found ? session::job_key(found->files.state_directory) : base::Result<std::string>(found.error());
    if (key && job_directory.enter(job, *key)) return;
    output.warning("the steps of this job don't share /tmp and /dev/shm on this node: " +
                   (key ? "no directory could be made in /tmp and /dev/shm" : key.error().line()));
}

// Runs the job's jail from start to end.
Ran run_job(int argc, char** argv) {
    base::fill_standard_descriptors();
    Caller caller = probe_environment();
    Output output = Output::standard(caller.environment);
    base::Result<slurm::Spec> spec = read_spec(argc, argv, caller.environment);
    if (!spec) return {output.fail(spec.error()), {}};
    if (!spec->directory.empty() && ::chdir(spec->project.c_str()) != 0) {
        base::Error error = base::system_error("enter the project " + spec->project, errno);
        error.advice = "the node must have it under the same path";
        return {output.fail(error), {}};
    }
    if (base::Status same = check_project(*spec); !same) return {output.fail(same.error()), {}};
    if (base::Status found = probe_working_directory(caller); !found) return {output.fail(found.error()), {}};
    caller.environment.insert(caller.environment.end(), spec->variables.begin(), spec->variables.end());
    adapt_to_ranks(caller.environment);
    caller.job_session = spec->session;

    std::vector<std::string> words = spec->options;
    for (std::string word : {"--project=" + spec->project, std::string("--"),
                             std::string(base::kOwnProgramPath), std::string(slurm::kPayloadRole)})
        words.push_back(std::move(word));
    base::Result<Arguments> arguments = parse_arguments(words, caller.working_directory);
    if (!arguments) return {output.fail(arguments.error()), {}};

    session::JobDirectory job_directory;
    enter_job_directory(job_directory, caller, *arguments, output);
    // A single rank has no other rank to share namespaces with.
    session::JobNamespaces namespaces;
    bool has_others = number_in(caller.environment, "SLURM_STEP_NUM_TASKS") > 1;
    if (!spec->is_batch && has_others && !job_directory.record().empty())
        namespaces.join(job_directory.record());
    caller.job_namespaces = namespaces.descriptors();
    caller.job_socket_namespaces = namespaces.socket_descriptors();
    caller.job = plan::JobRequest{.spec = slurm::encode(*spec),
                                  .project_inode = spec->project_inode,
                                  .is_batch = spec->is_batch,
                                  .script = spec->script,
                                  .descriptors = descriptors_of_ranks(caller.environment),
                                  .rank_on_node = distinct_number(caller.environment),
                                  .rank_directories = directories_of_ranks(caller.environment),
                                  .temporary = job_directory.temporary(),
                                  .shared_memory = job_directory.shared_memory()};
    Ran ran = run_command({caller, *arguments, output});
    if (spec->is_batch && !spec->output.empty()) remove_empty_output();
    return ran;
}

}  // namespace

int run_slurm_entry(int argc, char** argv) {
    return end_like(run_job(argc, argv));
}

}  // namespace cli
