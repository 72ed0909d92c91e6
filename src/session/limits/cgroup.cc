// SPDX-License-Identifier: MIT
// A cgroup that contains processes can't enable controllers for the cgroups below it, so the caller's own
// cgroup is rarely suitable. The new cgroup is then made beside it, below the same parent, as a service
// manager does.
#include "session/limits/cgroup.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/format.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/text.h"

namespace session {
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
        ::poll(nullptr, 0, 2);
    path_.clear();
}

}  // namespace session
