// SPDX-License-Identifier: MIT
// `slurm-script`: prints the script of a job. Slurm stores a job of the jail as base64, so that no line of
// the agent is a directive or runs outside; plug-ins and administrators read the script with this verb.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "slurm/jobs/spec.h"

namespace cli {
namespace {

constexpr size_t kLargest = 8u << 20;

// scontrol writes to standard output for the name "-".
base::Result<std::string> ask_scontrol(const std::string& job) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    base::Fd ours(ends[0]), theirs(ends[1]);
    std::string number = job;
    std::string words[] = {"scontrol", "write", "batch_script", number, "-"};
    char* pointers[] = {words[0].data(), words[1].data(), words[2].data(),
                        words[3].data(), words[4].data(), nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDOUT_FILENO);
    pid_t child = -1;
    int problem = ::posix_spawnp(&child, "scontrol", &actions, nullptr, pointers, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    theirs.reset();
    if (problem != 0) {
        base::Error error = base::system_error("run scontrol", problem);
        error.advice = "is Slurm on this machine, and in PATH?";
        return error;
    }
    base::Result<std::string> text = base::read_descriptor(ours.get(), kLargest);
    ours.reset();
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (status != 0) return base::Error{.what = "scontrol gives no script of job " + job};
    return text;
}

base::Result<std::string> stored_script(const std::string& word) {
    if (word == "-") return base::read_descriptor(STDIN_FILENO, kLargest);
    return slurm::is_job_number(word) ? ask_scontrol(word) : base::read_file(word, kLargest);
}

// Threat: the script is the agent's. On a terminal its control characters would be commands to it.
std::string for_terminal(std::string_view script) {
    std::string shown;
    for (char letter : script) {
        bool is_kept = letter == '\n' || letter == '\t';
        shown += is_kept ? std::string(1, letter) : base::printable(std::string(1, letter));
    }
    return shown;
}

}  // namespace

int slurm_script_verb(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    if (words.size() != 1) {
        return call.output.fail({.what = "slurm-script takes the number of a job, a file or -",
                                 .advice = usage_of("slurm-script"),
                                 .exit_code = base::ExitCode::usage});
    }
    base::Result<std::string> stored = stored_script(words.front());
    if (!stored) return call.output.fail(stored.error());
    base::Result<slurm::Spec> spec = slurm::spec_from_job_file(*stored);
    if (!spec || !spec->is_batch) {
        return call.output.fail(
            {.what = base::printable(words.front()) + " is not a job of agent-sandbox, or of another version",
             .advice = "scontrol write batch_script shows a script as Slurm has it"});
    }
    return call.output.result(::isatty(STDOUT_FILENO) ? for_terminal(spec->script) : spec->script);
}

}  // namespace cli
