// SPDX-License-Identifier: MIT
#include "slurm/entry/payload.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/text.h"
#include "slurm/jobs/environment.h"
#include "slurm/jobs/spec.h"

namespace slurm {
namespace {

constexpr size_t kLargest = 8u << 20;
constexpr int kCouldNotPrepare = 1;

// In the format of Slurm's own messages.
int fail(const std::string& what, int number) {
    (void)base::write_all(STDERR_FILENO, "slurmstepd: error: " + what + (number ? ": " : "") +
                                             (number ? std::strerror(number) : "") + "\n");
    return number;
}

// A single task may truncate the file. If several share a name, each appends to it.
int output_flags(const Spec& spec, const std::vector<std::string>& environment) {
    bool is_alone = spec.is_batch || value_of(environment, "SLURM_NTASKS") == "1" ||
                    spec.output.find("%t") != std::string::npos;
    bool keeps = spec.appends || !is_alone;
    return O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_APPEND | (keeps ? 0 : O_TRUNC);
}

bool put_in_place(const std::string& name, int flags, int place) {
    base::Fd file(::open(name.c_str(), flags, 0666));
    int number = errno;
    if (!file) {
        fail("Could not open " + base::printable(name), number);
        return false;
    }
    return ::dup2(file.get(), place) == place;
}

bool open_files(const Spec& spec, const std::vector<std::string>& environment) {
    auto path_of = [&](const std::string& pattern) {
        return expand_pattern(pattern, environment, spec.directory);
    };
    int flags = output_flags(spec, environment);
    if (!spec.input.empty() &&
        !put_in_place(path_of(spec.input), O_RDONLY | O_CLOEXEC | O_NOCTTY, STDIN_FILENO))
        return false;
    bool is_one_file = !spec.output.empty() && (spec.error.empty() || spec.error == spec.output);
    // Open the error file first, so that a failure of the output file is reported there.
    if (!spec.error.empty() && !is_one_file && !put_in_place(path_of(spec.error), flags, STDERR_FILENO))
        return false;
    if (spec.output.empty()) return true;
    if (!put_in_place(path_of(spec.output), flags, STDOUT_FILENO)) return false;
    // As in Slurm: errors without a file of their own go to the output file.
    return !is_one_file || ::dup2(STDOUT_FILENO, STDERR_FILENO) == STDERR_FILENO;
}

void go_to(const std::string& directory) {
    if (::chdir(directory.c_str()) == 0) return;
    int number = errno;
    fail(base::format("couldn't chdir to `{}': {}: going to /tmp instead", base::printable(directory),
                      std::strerror(number)),
         0);
    (void)!::chdir("/tmp");
}

void set(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
    std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(name + "="); });
    if (!value.empty()) environment.push_back(base::format("{}={}", name, value));
}

// The variables that Slurm would set if the agent had called it directly.
void set_facts(std::vector<std::string>& environment, const Spec& spec) {
    // Programs read their start directory from it.
    if (!spec.directory.empty()) set(environment, "PWD", spec.directory);
    if (!spec.submitted_from.empty()) set(environment, "SLURM_SUBMIT_DIR", spec.submitted_from);
    if (!spec.is_batch) return;
    set(environment, "ENVIRONMENT", "BATCH");
    // Slurm's own file is always opened for appending.
    if (!spec.appends) set(environment, "SLURM_OPEN_MODE", "");
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

}  // namespace

int run_payload() {
    base::Result<std::string> text = base::read_file(base::own_path(base::kJob), kLargest);
    if (!text) return fail(text.error().what, 0), kCouldNotPrepare;
    base::Result<Spec> spec = decode_spec(*text);
    if (!spec) return fail(spec.error().what, 0), kCouldNotPrepare;

    std::vector<std::string> given;
    for (char** variable = environ; variable && *variable; ++variable) given.emplace_back(*variable);
    if (!spec->directory.empty()) go_to(spec->directory);
    if (!open_files(*spec, given)) return kCouldNotPrepare;

    std::vector<std::string> environment = laid_over(given, spec->environment);
    set_facts(environment, *spec);
    std::vector<std::string> command = spec->command;
    if (spec->is_batch) command.insert(command.begin(), base::own_path(base::kJobScript));
    if (command.empty()) return fail("no command", 0), kCouldNotPrepare;

    std::vector<char*> variables = pointers_to(environment);
    environ = variables.data();  // execvpe reads PATH from the caller's environment
    std::string program = command.front();
    if (program.starts_with('.') && !spec->directory.empty()) program.insert(0, spec->directory + "/");
    std::vector<char*> arguments = pointers_to(command);
    ::execvpe(program.c_str(), arguments.data(), variables.data());
    // Slurm also searches the directory of the step for a name that is not in the search path.
    if (errno == ENOENT) ::execve(program.c_str(), arguments.data(), variables.data());
    int number = errno;
    return fail("execve(): " + base::printable(program), number);
}

int run_hold() {
    std::string told;
    for (char** variable = environ; variable && *variable; ++variable) (told += *variable) += '\0';
    told += '\0';
    if (!base::write_all(STDOUT_FILENO, told)) return 1;
    unsigned char status = 0;
    for (;;) {
        unsigned char byte;
        ssize_t got = ::read(STDIN_FILENO, &byte, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return status;
        status = byte;
    }
}

}  // namespace slurm
