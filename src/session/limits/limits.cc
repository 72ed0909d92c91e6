// SPDX-License-Identifier: MIT
// RLIMIT_NPROC counts the processes and threads of a user. Since Linux 5.14 it counts them for each user
// namespace, so only those of the jail count. Before, all processes of the user on the machine count, so the
// number of running ones is added.
#include "session/limits/limits.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/format.h"
#include "base/parse.h"
#include "base/text.h"
#include "host/remedies.h"
#include "session/limits/usage.h"

namespace session {
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

base::Error unwatchable(const policy::Limit& limit, std::string_view key) {
    return {.what = std::string(key) +
                    " can't be held here: the kernel does not tell which processes are the jail's",
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
        return bounds.memory > 0 ? unwatchable(limits.memory, "limits.memory")
                                 : unwatchable(limits.idle_time, "limits.idle_time");
    }
    enforcement.watch = Watch(bounds);
    return enforcement;
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
