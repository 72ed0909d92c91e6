// SPDX-License-Identifier: MIT
// Measures the cost of single system calls and of whole commands where this program runs, for bench/inside.
//
//   inside_calls calls FOLDER            nanoseconds of each call, "NAME<TAB>NUMBER"; writes a file in FOLDER
//   inside_calls time COUNT COMMAND...   milliseconds of a command, the minimum of COUNT runs; output dropped
//
// It measures inside, so that the start of the jail is not included.
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

[[noreturn]] void give_up(const std::string& what) {
    std::perror(("inside_calls: " + what).c_str());
    std::exit(1);
}

// The minimum of some batches of about 8 ms each, because disturbances only add time.
double cost_of(const std::function<void()>& act) {
    constexpr double kBatch = 8e6;
    constexpr int kBatches = 7;
    const auto first = Clock::now();
    act();
    long repeat = 1;
    for (; nanoseconds_since(first) < kBatch / 4; ++repeat) act();
    repeat *= 4;
    double least = 0;
    for (int batch = 0; batch < kBatches; ++batch) {
        const auto start = Clock::now();
        for (long i = 0; i < repeat; ++i) act();
        const double each = nanoseconds_since(start) / static_cast<double>(repeat);
        least = batch == 0 ? each : std::min(least, each);
    }
    return least;
}

// Returns its status; the output goes to /dev/null.
int run(char** command) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t child = -1;
    const int failed = posix_spawnp(&child, command[0], &actions, nullptr, command, environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    if (failed != 0 || waitpid(child, &status, 0) != child) give_up(command[0]);
    return status;
}

int calls(const std::string& folder) {
    const std::string path = folder + "/inside-calls.data";
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) give_up(path);
    char buffer[4096] = {};
    const std::string program = "/usr/bin/true";
    char* const command[] = {const_cast<char*>(program.c_str()), nullptr};
    const std::vector<std::pair<const char*, std::function<void()>>> table = {
        // Only the way into the kernel and back, and the cost of a filter.
        {"getppid", [] { syscall(SYS_getppid); }},
        {"stat",
         [&] {
             struct stat found {};
             if (stat(path.c_str(), &found) != 0) give_up("stat");
         }},
        {"openat",
         [&] {
             const int opened = open(path.c_str(), O_RDONLY | O_CLOEXEC);
             if (opened < 0) give_up("openat");
             close(opened);
         }},
        {"read and write",
         [&] {
             if (pwrite(file, buffer, sizeof buffer, 0) < 0 || pread(file, buffer, sizeof buffer, 0) < 0)
                 give_up("read and write");
         }},
        {"fork and exec", [&] { run(const_cast<char**>(command)); }},
    };
    for (const auto& [name, act] : table) std::printf("%s\t%.0f\n", name, cost_of(act));
    unlink(path.c_str());
    return 0;
}

int time_command(int count, char** command) {
    double least = 0;
    for (int i = 0; i < count; ++i) {
        const auto start = Clock::now();
        if (run(command) != 0) {
            std::fprintf(stderr, "inside_calls: %s did not end well\n", command[0]);
            return 1;
        }
        const double each = nanoseconds_since(start) / 1e6;
        least = i == 0 ? each : std::min(least, each);
    }
    std::printf("%.1f\n", least);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "calls" && argc == 3) return calls(argv[2]);
    if (what == "time" && argc > 3) return time_command(std::atoi(argv[2]), argv + 3);
    std::fputs("inside_calls: see the top of the file\n", stderr);
    return 2;
}
