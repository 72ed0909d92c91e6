// SPDX-License-Identifier: MIT
#include "session/limits/watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"

namespace session {
namespace {

std::string place_of(const std::string& proc, pid_t process) {
    return base::format("{}/{}", proc, process);
}

uint64_t number_of(std::string_view text) {
    return base::leading_number<uint64_t>(text).value_or(0);
}

// Each thread has its own list of children.
void add_children(const std::string& proc, pid_t process, std::vector<pid_t>& processes) {
    std::string tasks = place_of(proc, process) + "/task";
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

// The directories in /proc of a process and of all below it.
std::vector<std::string> places_below(const std::string& proc, pid_t first) {
    std::vector<pid_t> processes = {first};
    for (size_t i = 0; i < processes.size(); ++i) add_children(proc, processes[i], processes);
    std::vector<std::string> places;
    places.reserve(processes.size());
    for (pid_t process : processes) places.push_back(place_of(proc, process));
    return places;
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
std::string living_place(const std::string& place) {
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

uint64_t resident(const std::string& place) {
    return resident_at(living_place(place));
}

// Divides shared pages among the processes that share them. Slow: the kernel walks all page tables for it.
uint64_t proportional(const std::string& place) {
    constexpr std::string_view kName = "Pss:";
    base::Result<std::string> text = base::read_file(living_place(place) + "/smaps_rollup");
    if (!text) return resident(place);
    for (std::string_view line : base::split(*text, '\n')) {
        if (line.starts_with(kName)) return number_of(base::trim(line.substr(kName.size()))) << 10;
    }
    return resident(place);
}

uint64_t exact_sum(const std::string& proc, pid_t first) {
    uint64_t sum = 0;
    for (const std::string& place : places_below(proc, first)) sum += proportional(place);
    return sum;
}

// The jail's root as a path in /proc, of the first process that we may inspect: not a stage that was forked
// without exec, but the processes that it started. Empty: not found.
std::string root_of(const std::vector<std::string>& places) {
    for (const std::string& place : places) {
        std::string root = living_place(place) + "/root";
        if (::access((root + "/.").c_str(), F_OK) == 0) return root;
    }
    return {};
}

uint64_t file_system_use(const std::string& path) {
    struct statfs status;
    if (::statfs(path.c_str(), &status) != 0 || status.f_type != TMPFS_MAGIC) return 0;
    return (status.f_blocks - status.f_bfree) * static_cast<uint64_t>(status.f_bsize);
}

uint64_t ticks(const std::string& place) {
    base::Result<std::string> status = base::read_file(place + "/stat");
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

bool Meter::can_see() const {
    return base::file_exists(base::format("{}/task/{}/children", place_of(proc_, first_), first_));
}

uint64_t Meter::memory(uint64_t limit) const {
    uint64_t files = 0, quick = 0;
    std::vector<std::string> places = places_below(proc_, first_);
    std::string root = root_of(places);
    if (!root.empty()) {
        for (const std::string& path : memory_file_systems_) files += file_system_use(root + path);
    }
    for (const std::string& place : places) quick += resident(place);
    if (files + quick <= limit) return files + quick;
    uint64_t exact = exact_sum(proc_, first_);
    if (files + exact <= limit) return files + exact;
    // If a process ends while the sum is made, its share of pages moves to processes that are read later, and
    // counts twice. A second sum is unlikely to have the same error.
    return files + std::min(exact, exact_sum(proc_, first_));
}

std::vector<std::string> Meter::places() const {
    return places_below(proc_, first_);
}

size_t Meter::processes() const {
    return places().size();
}

uint64_t Meter::processor_ticks() const {
    uint64_t sum = 0;
    for (const std::string& place : places_below(proc_, first_)) sum += ticks(place);
    return sum;
}

namespace {

using namespace std::chrono_literals;

constexpr auto kGrace = 2s;
constexpr auto kStopGrace = 5s;
constexpr auto kIdleLook = 1s;
// A second with at most this many ticks is idle: a program that waits for input still blinks and polls.
constexpr uint64_t kIdleTicks = 1;

// Memory fills by some gigabytes a second at most: the more is left, the later the next check.
constexpr uint64_t kFilledPerMillisecond = 4u << 20;
constexpr int64_t kSoonest = 10, kLatest = 250;  // milliseconds

}  // namespace

void Watch::start(Clock::time_point now, Source source) {
    source_ = std::move(source);
    if (bounds_.wall_time.count() > 0) end_ = now + bounds_.wall_time;
    if (bounds_.memory > 0) next_memory_ = now;
    if (bounds_.idle_time.count() > 0) {
        idle_since_ = now;
        next_idleness_ = now + kIdleLook;
        last_ticks_ = source_.processor_ticks();
    }
}

int Watch::wait(Clock::time_point now) const {
    Clock::time_point next = std::min({end_, next_memory_, next_idleness_});
    if (next == kNever) return -1;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
    // Wait at most a day, which fits poll's int; an early check is harmless.
    return static_cast<int>(std::clamp<int64_t>(left, 0, 86'400'000));
}

void Watch::stop(Clock::time_point now, bool is_urgent) {
    reached_ = kStop;
    is_stopping_ = !is_urgent;
    is_asked_ = true;
    end_ = now + (is_urgent ? Clock::duration::zero() : Clock::duration(kStopGrace));
    next_memory_ = next_idleness_ = kNever;
}

Watch::Action Watch::look(Clock::time_point now) {
    if (std::exchange(is_stopping_, false)) return Action::ask_to_end;
    if (is_asked_) {
        if (now < end_) return Action::go_on;
        end_ = kNever;
        return Action::end_now;
    }
    if (now >= end_) return reach("limits.wall_time", now);
    if (now >= next_memory_) look_at_memory(now);
    if (bounds_.memory > 0 && last_memory_ > bounds_.memory) return reach("limits.memory", now);
    if (now >= next_idleness_) look_at_idleness(now);
    if (idle_since_ != kNever && now - idle_since_ >= bounds_.idle_time)
        return reach("limits.idle_time", now);
    return Action::go_on;
}

// A jail above its memory limit gets no time to exit.
Watch::Action Watch::reach(std::string_view setting, Clock::time_point now) {
    reached_ = setting;
    is_asked_ = true;
    bool is_urgent = setting == "limits.memory";
    end_ = is_urgent ? kNever : now + kGrace;
    next_memory_ = next_idleness_ = kNever;
    return is_urgent ? Action::end_now : Action::ask_to_end;
}

void Watch::look_at_memory(Clock::time_point now) {
    last_memory_ = source_.memory();
    uint64_t left = bounds_.memory > last_memory_ ? bounds_.memory - last_memory_ : 0;
    auto pause = std::clamp(static_cast<int64_t>(left / kFilledPerMillisecond), kSoonest, kLatest);
    next_memory_ = now + std::chrono::milliseconds(pause);
}

void Watch::look_at_idleness(Clock::time_point now) {
    uint64_t ticks = source_.processor_ticks();
    // Less than before: a process ended and was not waited for, so the jail was active.
    bool is_idle = ticks >= last_ticks_ && ticks - last_ticks_ <= kIdleTicks;
    if (!is_idle) idle_since_ = now;
    last_ticks_ = ticks;
    next_idleness_ = now + kIdleLook;
}

}  // namespace session
