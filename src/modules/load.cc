// SPDX-License-Identifier: MIT
#include "modules/load.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/path.h"
#include "base/process/descriptors.h"
#include "base/process/event_loop.h"
#include "base/result.h"
#include "base/text.h"
#include "modules/answer.h"
#include "modules/command.h"

namespace modules {
namespace {

// Runs the module command to its end, with limits on its time and its output.

struct Output {
    std::string answer;  // standard output
    std::string words;   // standard error
    int exit_code = 0;   // 128+n for a signal
};

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
    std::array<int, 2> waiting = ends;  // -1: read to its end
    bool is_too_large = false;
    base::EventLoop loop;
    for (size_t i = 0; i < waiting.size(); ++i) {
        loop.add({[&, i] { return waiting[i]; },
                  [&, i] {
                      char buffer[16384];
                      ssize_t count = ::read(waiting[i], buffer, sizeof buffer);
                      if (count > 0) texts[i]->append(buffer, static_cast<size_t>(count));
                      if (count == 0 || (count < 0 && errno != EINTR)) waiting[i] = -1;
                      is_too_large = is_too_large || texts[i]->size() > kLargestOutput;
                  }});
    }
    const auto deadline = Clock::now() + kLongestWait;
    while (waiting[0] >= 0 || waiting[1] >= 0) {
        auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0 || is_too_large) return false;
        loop.turn(left);
    }
    return !is_too_large;
}

int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// In the root directory and without input, so that the caller's working directory has no influence.
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

constexpr size_t kLongestQuote = 300;
constexpr std::string_view kHeadings[] = {"Lmod has detected the following error:", "ERROR:"};
// Search paths for programs and libraries; modules add directories of their software trees.
constexpr std::string_view kSearchPaths[] = {"PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH"};
constexpr std::string_view kModulePath = "MODULEPATH";

// The first paragraph of the command's messages in one line; general advice follows after an empty line.
std::string in_quotes(std::string_view words) {
    std::string line;
    for (std::string_view part : base::split(base::trim(words), '\n')) {
        part = base::trim(part);
        if (part.empty()) break;
        if (!line.empty()) line += ' ';
        line += part;
    }
    for (std::string_view heading : kHeadings) {
        if (line.starts_with(heading)) line = base::trim(std::string_view(line).substr(heading.size()));
    }
    bool is_long = line.size() > kLongestQuote;
    return base::printable(is_long ? line.substr(0, kLongestQuote) + " …" : line);
}

std::string_view name_of(std::string_view entry) {
    return entry.substr(0, entry.find('='));
}

// The last change of each variable counts.
std::map<std::string, std::optional<std::string>> last_changes(const Answer& answer) {
    std::map<std::string, std::optional<std::string>> changes;
    for (const Change& change : answer.changes) changes[change.name] = change.value;
    return changes;
}

void find_search_places(const std::vector<std::string>& before, Loaded& loaded) {
    auto value_in = [](const std::vector<std::string>& environment, std::string_view name) {
        for (std::string_view entry : environment) {
            if (name_of(entry) == name) return entry.substr(std::min(name.size() + 1, entry.size()));
        }
        return std::string_view();
    };
    for (std::string_view name : kSearchPaths) {
        std::vector<std::string_view> known = base::split(value_in(before, name), ':');
        for (std::string_view part : base::split(value_in(loaded.environment, name), ':')) {
            bool is_new = part.starts_with('/') && std::ranges::find(known, part) == known.end();
            if (is_new) loaded.search_places.emplace_back(part);
        }
    }
}

Loaded apply(const std::vector<std::string>& environment, const Answer& answer,
             const std::vector<Withheld>& withheld) {
    const auto changes = last_changes(answer);
    Loaded loaded;
    for (const std::string& entry : environment) {
        if (!changes.contains(std::string(name_of(entry)))) loaded.environment.push_back(entry);
    }
    for (const auto& [name, value] : changes) {
        if (!value) continue;
        loaded.environment.push_back(base::format("{}={}", name, with_withheld(name, *value, withheld)));
        loaded.set.push_back(name);
    }
    find_search_places(environment, loaded);
    return loaded;
}

std::string advice_for(const std::vector<std::string>& withheld) {
    if (withheld.empty()) return "see 'module avail' and 'module spider'";
    return base::format(
        "module files in {} are not read: the jail can write there, and they would run outside it",
        base::printable(base::join(withheld, ", ")));
}

}  // namespace

base::Result<Loaded> load(const host::Tree& tree, const std::vector<std::string>& environment,
                          const LoadRequest& request) {
    base::Result<base::Path> command = find_command(tree, environment, request.command);
    if (!command) return command.error();
    CommandEnvironment prepared = make_command_environment(tree, environment, request.writable);
    std::vector<std::string> withheld;
    for (const Withheld& part : prepared.withheld) {
        if (part.variable == kModulePath) withheld.push_back(part.part);
    }

    std::vector<std::string> arguments = {"python", "load"};
    arguments.insert(arguments.end(), request.names.begin(), request.names.end());
    base::Result<Output> output = run_command(*command, arguments, prepared.variables);
    if (!output) return output.error();
    base::Result<Answer> answer = parse_answer(output->answer);
    bool has_failed = output->exit_code != 0 || (answer && answer->has_failed);
    if (has_failed) {
        std::string words = in_quotes(output->words);
        if (words.empty()) words = "the module command ended with " + std::to_string(output->exit_code);
        return base::Error{.what = "no module was loaded: " + words, .advice = advice_for(withheld)};
    }
    if (!answer) return answer.error();

    Loaded loaded = apply(environment, *answer, prepared.withheld);
    loaded.said = in_quotes(output->words);
    loaded.withheld = std::move(withheld);
    return loaded;
}

}  // namespace modules
