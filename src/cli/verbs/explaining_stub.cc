// SPDX-License-Identifier: MIT
// Theory of operation. The real program is a child with the descriptors, the terminal and the process group
// of this process, which only waits:
//
//   the terminal sends a signal to the group    both get it; it is not passed on
//   kill(2) sends a signal to this process      it is passed on
//   the program stops                           this process stops with the same signal
//   the program ends by a signal                this process ends by the same signal
#include "cli/verbs/explaining_stub.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/verbs/agent_stub.h"
#include "cli/verbs/ssh_explanation.h"
#include "plan/print/own_sandbox.h"
#include "plan/system/explaining_stubs.h"

namespace cli {
namespace {

constexpr size_t kLargestOutput = 64u << 10;

// In the child. Returns only if the program can't be executed.
void execute(const std::string& program, char* const* arguments, const sigset_t& mask) {
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::execv(program.c_str(), arguments);
}

[[noreturn]] void end_by(int signal) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    std::signal(signal, SIG_DFL);
    ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
    ::raise(signal);
    ::_exit(static_cast<int>(base::ExitCode::jail_failed));
}

// Until this process is continued. In an orphaned group the kernel ignores the signals of a terminal.
void stop_by(int signal) {
    sigset_t one, before;
    sigemptyset(&one);
    sigaddset(&one, signal);
    auto* handler = std::signal(signal, SIG_DFL);
    ::kill(::getpid(), signal);
    ::sigprocmask(SIG_UNBLOCK, &one, &before);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    std::signal(signal, handler);
}

// All signals are blocked. Returns the status of the child.
int wait_for(pid_t child) {
    sigset_t all;
    sigfillset(&all);
    for (;;) {
        siginfo_t information = {};
        const int signal = ::sigwaitinfo(&all, &information);
        if (signal < 0) continue;
        if (signal != SIGCHLD) {
            if (information.si_code != SI_KERNEL) ::kill(child, signal);
            continue;
        }
        int status = 0;
        while (::waitpid(child, &status, WNOHANG | WUNTRACED) == child) {
            if (!WIFSTOPPED(status)) return status;
            stop_by(WSTOPSIG(status));
        }
    }
}

// Readers of the output wait for its end, so only the program may hold these descriptors.
void let_go_of_streams() {
    base::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!nothing) return;
    ::dup2(nothing.get(), STDIN_FILENO);
    ::dup2(nothing.get(), STDOUT_FILENO);
}

std::optional<std::string> output_of(const std::string& program, std::vector<std::string> words,
                                     const sigset_t& mask) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    base::Fd reader(ends[0]), writer(ends[1]);
    const pid_t child = ::fork();
    if (child < 0) return std::nullopt;
    if (child == 0) {
        ::dup2(writer.get(), STDOUT_FILENO);
        ::dup2(writer.get(), STDERR_FILENO);
        std::vector<char*> pointers;
        for (std::string& word : words) pointers.push_back(word.data());
        pointers.push_back(nullptr);
        execute(program, pointers.data(), mask);
        ::_exit(static_cast<int>(base::ExitCode::not_executable));
    }
    writer.reset();
    base::Result<std::string> text = base::read_descriptor(reader.get(), kLargestOutput);
    reader.reset();
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
    return text ? std::optional(*std::move(text)) : std::nullopt;
}

std::string explanation_of(const std::string& name, const std::string& program, char** arguments,
                           const sigset_t& mask) {
    if (name == "ssh") {
        return ssh_explanation(program, arguments, [&](const std::string& asked, auto words) {
            return output_of(asked, std::move(words), mask);
        });
    }
    // The service outside makes the containers.
    if (std::getenv("CONTAINER_HOST") != nullptr) return {};
    std::vector<std::string> command;
    for (char** word = arguments; *word != nullptr; ++word) command.emplace_back(*word);
    command.front() = name;
    const std::string line = plan::line_about_containers(command);
    return line.empty() ? line : base::format("agent-sandbox: {}\n", line);
}

}  // namespace

std::optional<std::string> explaining_stub_name(std::string_view executed, std::string_view first_word) {
    for (std::string_view word : {executed, first_word}) {
        std::string_view name = base::base_name(word);
        if (std::ranges::find(plan::kExplainedPrograms, name, &plan::ExplainedProgram::name) !=
            std::end(plan::kExplainedPrograms))
            return std::string(name);
    }
    return std::nullopt;
}

int run_explaining_stub(const std::string& name, char** arguments) {
    const std::string program = program_behind_stub(name);
    if (program.empty()) {
        std::fputs(base::format("{}: command not found\n", name).c_str(), stderr);
        return static_cast<int>(base::ExitCode::not_found);
    }
    sigset_t all, before;
    sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, &before);
    // If the caller ignores it, the kernel keeps no status of children.
    auto* on_child = std::signal(SIGCHLD, SIG_DFL);
    const pid_t stub = ::getpid();
    const pid_t child = ::fork();
    if (child <= 0) {
        // A program that can't be a child runs in place of this process.
        std::signal(SIGCHLD, on_child);
        if (child == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (child == 0 && ::getppid() != stub) ::_exit(static_cast<int>(base::ExitCode::jail_failed));
        execute(program, arguments, before);
        std::fputs(base::format("{}: {}\n", program, base::system_error("execute it", errno).what).c_str(),
                   stderr);
        std::fflush(stderr);
        ::_exit(static_cast<int>(base::ExitCode::not_executable));
    }
    let_go_of_streams();
    const int status = wait_for(child);
    if (WIFSIGNALED(status)) end_by(WTERMSIG(status));
    const auto* explained = std::ranges::find(plan::kExplainedPrograms, name, &plan::ExplainedProgram::name);
    if (explained != std::end(plan::kExplainedPrograms) && WEXITSTATUS(status) == explained->failure)
        std::fputs(explanation_of(name, program, arguments, before).c_str(), stderr);
    return WEXITSTATUS(status);
}

}  // namespace cli
