// SPDX-License-Identifier: MIT
#include "inner/descendants.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/text.h"

namespace inner {
namespace {

constexpr long kShortestPause = 200'000;  // nanoseconds
constexpr long kLongestPause = 20'000'000;

pid_t number_of(std::string_view text) {
    return base::leading_number<pid_t>(text).value_or(0);
}

// "PID (any name at all) S PARENT …"
pid_t parent_of(std::string_view process) {
    base::Result<std::string> text = base::read_file("/proc/" + std::string(process) + "/stat", 4096);
    if (!text) return 0;
    size_t end = text->rfind(')');
    constexpr size_t kStateAndBlanks = 4;
    if (end == std::string::npos || end + kStateAndBlanks >= text->size()) return 0;
    return number_of(std::string_view(*text).substr(end + kStateAndBlanks));
}

// For kernels without CONFIG_PROC_CHILDREN.
std::vector<pid_t> search_children() {
    std::vector<pid_t> children;
    DIR* processes = ::opendir("/proc");
    if (processes == nullptr) return children;
    while (const struct dirent* entry = ::readdir(processes)) {
        std::string_view name = entry->d_name;
        bool is_process = name.find_first_not_of("0123456789") == std::string_view::npos;
        if (is_process && parent_of(name) == ::getpid()) children.push_back(number_of(name));
    }
    ::closedir(processes);
    return children;
}

// The list may miss some children while others start and exit; a caller that needs all repeats until none is
// left.
std::vector<pid_t> list_children() {
    std::vector<pid_t> children;
    base::Result<std::string> text = base::read_file("/proc/thread-self/children", 16u << 20);
    if (text) {
        for (std::string_view word : base::split(*text, ' ')) {
            if (pid_t child = number_of(word); child > 0) children.push_back(child);
        }
    }
    return children.empty() ? search_children() : children;
}

// Threat: a process forks faster than it is found. A signal for a group reaches all of its members at once,
// and none of them can fork in between. (tests/jail/landlock.bats: a fork bomb ends with the command)
void kill_children() {
    for (pid_t child : list_children()) {
        ::kill(-child, SIGKILL);  // of the group that it leads, if any
        ::kill(child, SIGKILL);
    }
}

// False if no child is left.
bool reap_some() {
    for (;;) {
        pid_t reaped = ::waitpid(-1, nullptr, WNOHANG | __WALL);
        if (reaped == 0) return true;
        if (reaped < 0 && errno != EINTR) return false;
    }
}

[[noreturn]] void stand_by(pid_t stage) {
    // Threat: a signal for the whole process group of the session (timeout -s KILL) would also kill the
    // warden, and no process would end the rest (tests/jail/landlock_attacks.bats).
    ::setsid();
    base::close_others({});
    for (;;) {
        pid_t ended = ::waitpid(-1, nullptr, __WALL);
        if (ended == stage || (ended < 0 && errno != EINTR)) break;
    }
    end_descendants();
    ::_exit(0);
}

}  // namespace

int leave_warden() {
    // Our parent may have set PDEATHSIG for us; then no process would be left to end the rest.
    ::prctl(PR_SET_PDEATHSIG, 0);
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return errno;
    pid_t stage = ::fork();
    if (stage < 0) return errno;
    if (stage > 0) stand_by(stage);
    // The child does not inherit this flag.
    return ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 ? 0 : errno;
}

void end_descendants() {
    for (long pause = kShortestPause;; pause = std::min(pause * 2, kLongestPause)) {
        kill_children();
        if (!reap_some()) return;
        struct timespec time = {0, pause};
        ::nanosleep(&time, nullptr);
    }
}

}  // namespace inner
