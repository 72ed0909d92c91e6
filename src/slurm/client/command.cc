// SPDX-License-Identifier: MIT
#include "slurm/client/command.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>
#include <variant>

#include "base/text.h"
#include "slurm/options/parse.h"

namespace slurm::client {
namespace {

constexpr int kFailure = 1;

std::vector<std::string> words_of(std::span<const std::string> arguments) {
    const Command* command = find_command("salloc");
    if (!command) return {};
    Parse parsed = parse(*command, arguments);
    auto* line = std::get_if<Parsed>(&parsed);
    return line ? line->words : std::vector<std::string>();
}

void reset_signals() {
    for (int number = 1; number < NSIG; ++number) {
        struct sigaction now = {};
        // The command keeps ignoring the signals that the caller ignores (nohup).
        if (::sigaction(number, nullptr, &now) != 0 || now.sa_handler == SIG_IGN) continue;
        ::signal(number, SIG_DFL);
    }
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGTTOU, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void execute(const std::vector<std::string>& words, const std::vector<std::string>& variables) {
    for (const std::string& variable : variables) ::putenv(::strdup(variable.c_str()));
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    ::execvp(pointers[0], pointers.data());
    // A command that is not in the search path may be in the current directory.
    if (errno == ENOENT) ::execv(pointers[0], pointers.data());
    const int number = errno;
    const std::string name = base::printable(words[0]);
    if (number == ENOENT)
        std::fprintf(stderr, "salloc: error: _fork_command: Unable to find command \"%s\"\n", name.c_str());
    else
        std::fprintf(stderr, "salloc: error: Unable to exec command \"%s\": %s\n", name.c_str(),
                     std::strerror(errno));
    ::_exit(kFailure);
}

}  // namespace

int status_of_command(int wait_status) {
    if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
    switch (WTERMSIG(wait_status)) {
        case SIGHUP:
        case SIGINT:
        case SIGQUIT:
        case SIGKILL:
            return 0;
        default:
            return 1;
    }
}

UserCommand UserCommand::start(std::span<const std::string> arguments,
                               const std::vector<std::string>& variables) {
    UserCommand command;
    std::vector<std::string> words = words_of(arguments);
    command.is_shell_ = words.empty();
    if (words.empty()) {
        const char* shell = std::getenv("SHELL");
        words = {shell && *shell ? shell : "/bin/sh"};
    }
    command.has_terminal_ = ::isatty(STDIN_FILENO) && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
    // Needed to pass the foreground to the command and take it back from the background.
    if (command.has_terminal_) ::signal(SIGTTOU, SIG_IGN);
    command.child_ = ::fork();
    if (command.child_ < 0) {
        std::fprintf(stderr, "salloc: error: fork: %s\n", std::strerror(errno));
        command.failure_ = kFailure;
        return command;
    }
    if (command.child_ == 0) {
        if (command.has_terminal_) {
            ::setpgid(0, 0);
            ::tcsetpgrp(STDIN_FILENO, ::getpid());
        }
        reset_signals();
        execute(words, variables);
    }
    // In both processes, because either may run first.
    if (command.has_terminal_) ::setpgid(command.child_, command.child_);
    return command;
}

std::optional<int> UserCommand::look() {
    if (failure_) return std::exchange(failure_, std::nullopt);
    int status = 0;
    if (child_ <= 0 || ::waitpid(child_, &status, WNOHANG | WUNTRACED) != child_) return std::nullopt;
    if (WIFSTOPPED(status)) {
        if (!has_terminal_) return std::nullopt;
        take_terminal();
        ::kill(0, SIGSTOP);
        return std::nullopt;
    }
    take_terminal();
    child_ = -1;
    return is_hung_up_ && WIFSIGNALED(status) ? kFailure : status_of_command(status);
}

void UserCommand::take_terminal() const {
    if (has_terminal_) ::tcsetpgrp(STDIN_FILENO, ::getpgrp());
}

void UserCommand::signal(int number) {
    if (!is_running()) return;
    is_hung_up_ = is_hung_up_ || number == SIGHUP;
    // In a shared process group the command has already received the keyboard's signals.
    if (!has_terminal_ && (number == SIGINT || number == SIGQUIT)) return;
    ::kill(has_terminal_ ? -child_ : child_, number);
}

void UserCommand::resume() const {
    if (!is_running() || !has_terminal_) return;
    if (::tcgetpgrp(STDIN_FILENO) == ::getpgrp()) ::tcsetpgrp(STDIN_FILENO, child_);
    ::kill(-child_, SIGCONT);
}

void UserCommand::end() {
    if (!is_running()) return;
    const pid_t target = has_terminal_ ? -child_ : child_;
    ::kill(target, is_shell_ ? SIGHUP : SIGTERM);
    ::kill(target, SIGCONT);
    for (int tenths = 0; tenths < 50; ++tenths) {
        if (::waitpid(child_, nullptr, WNOHANG) == child_) {
            child_ = -1;
            break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    if (is_running()) {
        ::kill(target, SIGKILL);
        ::waitpid(child_, nullptr, 0);
        child_ = -1;
    }
    take_terminal();
}

}  // namespace slurm::client
