// SPDX-License-Identifier: MIT
#include "modules/run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "base/file.h"
#include "base/format.h"
#include "base/process/descriptors.h"

namespace modules {
namespace {

using Clock = std::chrono::steady_clock;

// A cold cache of module files on a slow network file system takes ten seconds.
constexpr auto kLongestWait = std::chrono::seconds(60);
constexpr size_t kLargestOutput = 4u << 20;
constexpr int kCannotExecute = 127;

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

struct Pipe {
    base::Fd read, write;
};

base::Result<Pipe> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    return Pipe{base::Fd(ends[0]), base::Fd(ends[1])};
}

[[noreturn]] void become(const char* program, char* const* arguments, char* const* environment,
                         const std::array<int, 2>& outputs) {
    // A process group of its own, so that its children can be killed with it at the time limit.
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGPIPE, SIG_DFL);
    base::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    bool is_ready = ::dup2(nothing.get(), STDIN_FILENO) >= 0 && ::dup2(outputs[0], STDOUT_FILENO) >= 0 &&
                    ::dup2(outputs[1], STDERR_FILENO) >= 0 && ::chdir("/") == 0;
    base::inherit_only({});
    if (is_ready) ::execve(program, arguments, environment);
    ::_exit(kCannotExecute);
}

// Reads both to their ends; false at the limit of time or size.
bool read_both(const std::array<int, 2>& ends, Output& output) {
    const std::array<std::string*, 2> texts = {&output.answer, &output.words};
    std::array<pollfd, 2> waiting = {pollfd{ends[0], POLLIN, 0}, pollfd{ends[1], POLLIN, 0}};
    const auto deadline = Clock::now() + kLongestWait;
    while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
        auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return false;
        int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(left));
        if (ready < 0 && errno != EINTR) return false;
        if (ready <= 0) continue;
        for (size_t i = 0; i < waiting.size(); ++i) {
            if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
            char buffer[16384];
            ssize_t count = ::read(waiting[i].fd, buffer, sizeof buffer);
            if (count > 0) texts[i]->append(buffer, static_cast<size_t>(count));
            if (count == 0 || (count < 0 && errno != EINTR)) waiting[i].fd = -1;
            if (texts[i]->size() > kLargestOutput) return false;
        }
    }
    return true;
}

int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

base::Result<Output> run_command(const base::Path& program, const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment) {
    base::Result<Pipe> answer = make_pipe();
    if (!answer) return answer.error();
    base::Result<Pipe> words = make_pipe();
    if (!words) return words.error();
    std::vector<std::string> all = {program.str()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const std::vector<char*> argument_pointers = pointers_to(all);
    const std::vector<char*> environment_pointers = pointers_to(environment);

    pid_t child = ::fork();
    if (child < 0) return base::system_error("start " + program.str(), errno);
    if (child == 0) {
        become(program.c_str(), argument_pointers.data(), environment_pointers.data(),
               {answer->write.get(), words->write.get()});
    }
    answer->write.reset();
    words->write.reset();
    ::setpgid(child, child);

    Output output;
    bool is_complete = read_both({answer->read.get(), words->read.get()}, output);
    if (!is_complete) ::kill(-child, SIGKILL);
    output.exit_code = wait_for(child);
    if (!is_complete) {
        return base::Error{
            .what = base::format(
                "the module command {} was stopped: it took longer than a minute, or wrote without end",
                program.str()),
            .advice = "try 'module load' outside the jail"};
    }
    if (output.exit_code == kCannotExecute && output.words.empty())
        return base::Error{.what = base::format("the module command {} can't be run", program.str())};
    return output;
}

}  // namespace modules
