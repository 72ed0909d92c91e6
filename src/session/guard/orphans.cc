// SPDX-License-Identifier: MIT
#include "session/guard/orphans.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "inner/stage.h"

namespace session {
namespace {

std::vector<pid_t> children() {
    std::vector<pid_t> found;
    std::string path = base::format("/proc/self/task/{}/children", ::getpid());
    base::Result<std::string> text = base::read_file(path);
    if (!text) return found;
    for (std::string_view word : base::split(*text, ' ')) {
        pid_t child = base::leading_number<pid_t>(word).value_or(0);
        if (child > 0) found.push_back(child);
    }
    return found;
}

}  // namespace

Orphans::Orphans() : spared_(children()) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool Orphans::is_spared(pid_t child) const {
    return std::ranges::find(spared_, child) != spared_.end();
}

void Orphans::end() const {
    for (pid_t child : children()) {
        if (is_spared(child)) continue;
        ::kill(child, SIGKILL);
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
    }
}

void Orphans::end_all() const {
    // The children of a killed process become ours. SIGSTOP comes first, so that no process forks faster than
    // we list children. We wait only for processes that we killed: a child that came meanwhile lives, and the
    // wait would not end.
    for (std::vector<pid_t> killed;; killed.clear()) {
        for (pid_t child : children()) {
            if (!is_spared(child)) ::kill(child, SIGSTOP);
        }
        for (pid_t child : children()) {
            if (is_spared(child)) continue;
            ::kill(child, SIGKILL);
            killed.push_back(child);
        }
        if (killed.empty()) return;
        for (pid_t child : killed) {
            while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
        }
    }
}

// Theory of operation. bubblewrap makes its namespaces in a child, which waits for a message of its parent.
// If the supervisor is killed in between, the parent dies too (PR_SET_PDEATHSIG), and the child waits for
// ever. It has no jail and no command yet, but keeps the descriptors that it inherited. Three properties
// together identify it: our own command line, a pid namespace directly below ours, and a parent that is not
// bubblewrap. While a jail is built, the parent of its first process is a bubblewrap; a jail that is built
// shows another command line.

namespace {

constexpr size_t kLargestFile = 64u << 10;
constexpr std::string_view kBubblewrap = "bwrap";

std::string file_of(std::string_view process, std::string_view name) {
    base::Result<std::string> text =
        base::read_file(base::format("/proc/{}/{}", process, name), kLargestFile);
    return text ? *std::move(text) : std::string();
}

// The words after "Key:" in a status file.
std::vector<std::string_view> field(std::string_view status, std::string_view key) {
    for (std::string_view line : base::split(status, '\n')) {
        if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ':') continue;
        std::vector<std::string_view> words = base::split(line.substr(key.size() + 1), '\t');
        std::erase(words, "");
        return words;
    }
    return {};
}

std::string_view first(const std::vector<std::string_view>& words) {
    return words.empty() ? std::string_view() : words.front();
}

}  // namespace

bool is_left_builder(std::string_view command_line, std::string_view status, size_t own_numbers,
                     std::string_view name_of_parent) {
    std::vector<std::string_view> words = base::split(command_line, '\0');
    bool is_ours = words.size() >= 6 && words[0] == kBubblewrap && words[1] == "--args" && words[3] == "--" &&
                   words[4] == base::kOwnProgramPath && words[5] == inner::kRole;
    return is_ours && own_numbers > 0 && field(status, "NSpid").size() == own_numbers + 1 &&
           !name_of_parent.empty() && name_of_parent != kBubblewrap;
}

void end_left_builders() {
    base::Fd processes(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::string own = file_of("self", "status");
    const std::vector<std::string_view> user = field(own, "Uid");
    const size_t own_numbers = field(own, "NSpid").size();
    if (!processes || user.empty()) return;
    base::visit_entries(processes.get(), [&](const struct dirent64& entry) {
        std::string_view name = entry.d_name;
        int process = base::leading_number<int>(name).value_or(0);
        if (process <= 0 || base::trim(file_of(name, "comm")) != kBubblewrap) return true;
        // Open the pidfd before the checks: the pid can't be reused unnoticed.
        base::Fd descriptor = base::open_pidfd(process);
        std::string status = file_of(name, "status");
        std::string parent = file_of(first(field(status, "PPid")), "comm");
        if (descriptor && field(status, "Uid") == user &&
            is_left_builder(file_of(name, "cmdline"), status, own_numbers, base::trim(parent)))
            (void)base::send_signal(descriptor, SIGKILL);
        return true;
    });
}

}  // namespace session
