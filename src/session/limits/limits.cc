// SPDX-License-Identifier: MIT
// RLIMIT_NPROC counts the processes and threads of a user. Since Linux 5.14 it counts them for each user
// namespace, so only those of the jail count. Before, all processes of the user on the machine count, so the
// number of running ones is added.
#include "session/limits/limits.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/file.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/text.h"
#include "host/remedies.h"
#include "session/limits/watch.h"

namespace session {

// A cgroup that contains processes can't enable controllers for the cgroups below it, so the caller's own
// cgroup is rarely suitable. The new cgroup is then made beside it, below the same parent, as a service
// manager does.

namespace {

// bubblewrap itself and pid 1 of the jail are counted too.
constexpr uint64_t kOwnProcesses = 2;
constexpr int kRemovals = 50;  // tries, two milliseconds apart: the last process may not be reaped yet

// The cgroup file system refuses to make files; O_CREAT has an effect only in the plain directory of a test.
constexpr int kWriting = O_WRONLY | O_CREAT | O_CLOEXEC;

bool write_value(const std::string& file, const std::string& value) {
    base::Fd fd(::open(file.c_str(), kWriting, 0600));
    return fd && base::write_all(fd.get(), value);
}

bool hands_down(const std::string& group, std::string_view controller) {
    base::Result<std::string> controllers = base::read_file(group + "/cgroup.subtree_control");
    if (!controllers) return false;
    std::vector<std::string_view> names = base::split(base::trim(*controllers), ' ');
    return std::ranges::find(names, controller) != names.end();
}

bool is_suitable(const std::string& group, const Cgroup::Bounds& bounds) {
    return (bounds.processes == 0 || hands_down(group, "pids")) &&
           (bounds.memory == 0 || hands_down(group, "memory")) &&
           ::access((group + "/cgroup.procs").c_str(), W_OK) == 0;
}

// The line "0::/path" of version 2. In a cgroup namespace the path may lead above the visible root.
std::optional<base::Path> own_group(std::string_view membership) {
    for (std::string_view line : base::split(membership, '\n')) {
        if (!line.starts_with("0::") || line.find("/..") != std::string_view::npos) continue;
        if (base::Result<base::Path> path = base::Path::parse(line.substr(3))) return *path;
    }
    return std::nullopt;
}

// The number behind "name " in a file of such lines.
uint64_t number_in(const std::string& file, std::string_view name) {
    base::Result<std::string> content = base::read_file(file);
    if (!content) return 0;
    for (std::string_view line : base::split(*content, '\n')) {
        if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ' ') continue;
        return base::leading_number<uint64_t>(line.substr(name.size() + 1)).value_or(0);
    }
    return 0;
}

}  // namespace

std::optional<Cgroup> Cgroup::make(const std::string& root, std::string_view membership,
                                   const Bounds& bounds) {
    std::optional<base::Path> group = own_group(membership);
    if (!group) return std::nullopt;
    for (;; group = group->parent()) {
        std::string directory = group->is_root() ? root : root + group->str();
        if (is_suitable(directory, bounds)) {
            Cgroup made;
            made.path_ = base::format("{}/agent-sandbox-{}", directory, ::getpid());
            if (::mkdir(made.path_.c_str(), 0755) == 0 && made.set_up(bounds)) return made;
        }
        if (group->is_root()) return std::nullopt;
    }
}

bool Cgroup::set_up(const Bounds& bounds) {
    if (bounds.processes > 0 &&
        !write_value(path_ + "/pids.max", std::to_string(bounds.processes + kOwnProcesses))) {
        return false;
    }
    if (bounds.memory > 0) {
        if (!write_value(path_ + "/memory.max", std::to_string(bounds.memory))) return false;
        // Absent where there is no swap, and before Linux 4.19.
        write_value(path_ + "/memory.swap.max", "0");
        write_value(path_ + "/memory.oom.group", "1");
    }
    entrance_ = base::Fd(::open((path_ + "/cgroup.procs").c_str(), kWriting, 0600));
    return static_cast<bool>(entrance_);
}

Cgroup::Events Cgroup::events() const {
    return {.refused_processes = number_in(path_ + "/pids.events", "max"),
            .ran_out_of_memory = number_in(path_ + "/memory.events", "oom_kill") > 0};
}

void Cgroup::remove() {
    if (path_.empty()) return;
    for (int i = 0; i < kRemovals && ::rmdir(path_.c_str()) != 0 && errno == EBUSY; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    path_.clear();
}

namespace {

constexpr uint64_t kPidOne = 1;  // the jail's pid 1 belongs to us

bool counts_by_namespace(const host::Facts& facts) {
    bool has_namespace = !(facts.bwrap.is_setuid && facts.user_namespace_obstacle);
    return has_namespace && host::is_kernel_at_least(facts.kernel, 5, 14);
}

uint64_t field_of(std::string_view status, std::string_view name) {
    size_t at = status.find(name);
    if (at == std::string_view::npos) return 0;
    return base::leading_number<uint64_t>(base::trim(status.substr(at + name.size()))).value_or(0);
}

uint64_t threads_of_user(uint64_t uid) {
    uint64_t threads = 0;
    DIR* stream = ::opendir("/proc");
    if (stream == nullptr) return 0;
    while (const struct dirent* entry = ::readdir(stream)) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
        base::Result<std::string> status = base::read_file(base::format("/proc/{}/status", entry->d_name));
        if (status && field_of(*status, "\nUid:") == uid) threads += field_of(*status, "\nThreads:");
    }
    ::closedir(stream);
    return threads;
}

uint64_t process_limit(uint64_t wanted, const host::Facts& facts) {
    return wanted + kPidOne + (counts_by_namespace(facts) ? 0 : threads_of_user(::getuid()));
}

std::optional<Cgroup> make_cgroup(const plan::Limits& limits, const std::string& root) {
    Cgroup::Bounds bounds{.processes = limits.processes.value, .memory = limits.memory.value};
    if (bounds.processes == 0 && bounds.memory == 0) return std::nullopt;
    base::Result<std::string> membership = base::read_file("/proc/self/cgroup");
    return membership ? Cgroup::make(root, *membership, bounds) : std::nullopt;
}

std::chrono::seconds seconds(const policy::Limit& limit) {
    // A limit above 68 years has no effect, and larger values overflow clocks.
    constexpr uint64_t kLongest = 1u << 31;
    return std::chrono::seconds(std::min(limit.value, kLongest));
}

base::Error not_listed(const policy::Limit& limit, std::string_view key) {
    return {.what = std::string(key) +
                    " can't be held here: the kernel does not list which processes are the jail's",
            .advice = "take it out, or use a kernel with CONFIG_PROC_CHILDREN",
            .where = limit.origin.describe()};
}

}  // namespace

base::Result<Enforcement> enforce(const plan::Limits& limits, const host::Facts& facts,
                                  const std::string& cgroup_root) {
    Enforcement enforcement{.cgroup = make_cgroup(limits, cgroup_root)};
    auto add = [&](int resource, uint64_t value) { enforcement.resources.push_back({resource, value}); };
    bool has_cgroup = enforcement.cgroup.has_value();
    if (limits.processes.value > 0 && !has_cgroup) {
        add(RLIMIT_NPROC, process_limit(limits.processes.value, facts));
    }
    if (limits.open_files.value > 0) add(RLIMIT_NOFILE, limits.open_files.value);
    if (limits.file_size.value > 0) add(RLIMIT_FSIZE, limits.file_size.value);

    Watch::Bounds bounds{.memory = has_cgroup ? 0 : limits.memory.value,
                         .wall_time = seconds(limits.wall_time),
                         .idle_time = seconds(limits.idle_time)};
    if (bounds.needs_meter() && !Meter::is_possible()) {
        return bounds.memory > 0 ? not_listed(limits.memory, "limits.memory")
                                 : not_listed(limits.idle_time, "limits.idle_time");
    }
    enforcement.watch = Watch(bounds);
    return enforcement;
}

base::Error unmeasurable(const policy::Limit& limit, std::string_view key) {
    return {
        .what = base::format("{} can't be held here: /proc hides the processes of the jail (hidepid)", key),
        .advice = "take it out, or use a backend with a pid namespace: --backend native or bwrap",
        .where = limit.origin.describe()};
}

std::vector<std::string> memory_file_systems(const plan::Plan& plan) {
    std::vector<std::string> places;
    for (const plan::Mount& mount : plan.mounts) {
        if (mount.kind == plan::MountKind::tmpfs || mount.kind == plan::MountKind::dev) {
            places.push_back(mount.target.str());
        }
    }
    return places;
}

}  // namespace session
