// SPDX-License-Identifier: MIT
#include "session/limits/usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>

#include "base/entries.h"
#include "base/file.h"
#include "base/format.h"
#include "base/parse.h"
#include "base/text.h"

namespace session {
namespace {

std::string place_of(pid_t process) {
    return "/proc/" + std::to_string(process);
}

uint64_t number_of(std::string_view text) {
    return base::leading_number<uint64_t>(text).value_or(0);
}

// Each thread has its own list of children.
void add_children(pid_t process, std::vector<pid_t>& processes) {
    std::string tasks = place_of(process) + "/task";
    DIR* stream = ::opendir(tasks.c_str());
    if (stream == nullptr) return;
    while (const struct dirent* task = ::readdir(stream)) {
        if (task->d_name[0] == '.') continue;
        base::Result<std::string> children = base::read_file(tasks + "/" + task->d_name + "/children");
        if (!children || children->empty()) continue;
        for (std::string_view child : base::split(base::trim(*children), ' ')) {
            if (uint64_t number = number_of(child)) processes.push_back(static_cast<pid_t>(number));
        }
    }
    ::closedir(stream);
}

std::vector<pid_t> processes_below(pid_t stage) {
    std::vector<pid_t> processes = {stage};
    for (size_t i = 0; i < processes.size(); ++i) add_children(processes[i], processes);
    return processes;
}

uint64_t resident_at(const std::string& place) {
    static const uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    base::Result<std::string> pages = base::read_file(place + "/statm");
    if (!pages) return 0;
    std::vector<std::string_view> fields = base::split(*pages, ' ');
    return fields.size() > 1 ? number_of(fields[1]) * page : 0;
}

// The directory in /proc that shows the process's memory and root. Threat: a process whose first thread has
// ended seems to have neither, but its other threads run on (tests/jail/limits.bats).
std::string living_place_of(pid_t process) {
    std::string place = place_of(process);
    if (resident_at(place) > 0) return place;
    std::string tasks = place + "/task", living = place;
    base::Fd directory(::open(tasks.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return place;
    base::visit_entries(directory.get(), [&](const struct dirent64& task) {
        std::string thread = tasks + "/" + task.d_name;
        if (resident_at(thread) > 0) living = thread;
        return living == place;
    });
    return living;
}

uint64_t resident(pid_t process) {
    return resident_at(living_place_of(process));
}

// Divides shared pages among the processes that share them. Slow: the kernel walks all page tables for it.
uint64_t proportional(pid_t process) {
    constexpr std::string_view kName = "Pss:";
    base::Result<std::string> text = base::read_file(living_place_of(process) + "/smaps_rollup");
    if (!text) return resident(process);
    for (std::string_view line : base::split(*text, '\n')) {
        if (line.starts_with(kName)) return number_of(base::trim(line.substr(kName.size()))) << 10;
    }
    return resident(process);
}

uint64_t exact_sum(pid_t stage) {
    uint64_t sum = 0;
    for (pid_t process : processes_below(stage)) sum += proportional(process);
    return sum;
}

// The jail's root as a path in /proc, of the first process that we may inspect: not a stage that was forked
// without exec, but the processes that it started. Empty: not found.
std::string root_of(const std::vector<pid_t>& processes) {
    for (pid_t process : processes) {
        std::string root = living_place_of(process) + "/root";
        if (::access((root + "/.").c_str(), F_OK) == 0) return root;
    }
    return {};
}

uint64_t file_system_use(const std::string& path) {
    struct statfs status;
    if (::statfs(path.c_str(), &status) != 0 || status.f_type != TMPFS_MAGIC) return 0;
    return (status.f_blocks - status.f_bfree) * static_cast<uint64_t>(status.f_bsize);
}

uint64_t ticks(pid_t process) {
    base::Result<std::string> status = base::read_file(place_of(process) + "/stat");
    if (!status) return 0;
    // The name, in parentheses, may contain any byte; the fields after it are numbers. utime is the twelfth.
    size_t name_end = status->rfind(')');
    if (name_end == std::string::npos) return 0;
    std::vector<std::string_view> fields = base::split(std::string_view(*status).substr(name_end + 1), ' ');
    constexpr size_t kFirst = 12, kLast = 15;  // utime, stime, cutime, cstime
    uint64_t sum = 0;
    for (size_t i = kFirst; i <= kLast && i < fields.size(); ++i) sum += number_of(fields[i]);
    return sum;
}

}  // namespace

bool Meter::is_possible() {
    std::string self = std::to_string(::getpid());
    return base::file_exists(base::format("/proc/{}/task/{}/children", self, self));
}

uint64_t Meter::memory(uint64_t limit) const {
    uint64_t files = 0, quick = 0;
    std::vector<pid_t> processes = processes_below(stage_);
    std::string root = root_of(processes);
    if (!root.empty()) {
        for (const std::string& place : memory_file_systems_) files += file_system_use(root + place);
    }
    for (pid_t process : processes) quick += resident(process);
    if (files + quick <= limit) return files + quick;
    uint64_t exact = exact_sum(stage_);
    if (files + exact <= limit) return files + exact;
    // If a process ends while the sum is made, its share of pages moves to processes that are read later, and
    // counts twice. A second sum is unlikely to have the same error.
    return files + std::min(exact, exact_sum(stage_));
}

size_t Meter::processes() const {
    return processes_below(stage_).size();
}

uint64_t Meter::processor_ticks() const {
    uint64_t sum = 0;
    for (pid_t process : processes_below(stage_)) sum += ticks(process);
    return sum;
}

}  // namespace session
