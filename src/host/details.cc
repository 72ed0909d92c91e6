// SPDX-License-Identifier: MIT
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/glob.h"
#include "base/text.h"
#include "host/facts.h"

namespace host {
namespace {

constexpr size_t kLargestSystemFile = 64u << 10;

std::optional<std::string> read_word(const Tree& tree, std::string_view path) {
    base::Result<std::string> content = tree.read(base::Path::known(path), kLargestSystemFile);
    return content ? std::optional(std::string(base::trim(*content))) : std::nullopt;
}

bool exists(const Tree& tree, std::string_view path) {
    return tree.look(base::Path::known(path)).has_value();
}

// os-release(5): PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
std::string find_os_name(const Tree& tree) {
    constexpr std::string_view kKey = "PRETTY_NAME=";
    for (std::string_view path : {"/etc/os-release", "/usr/lib/os-release"}) {
        base::Result<std::string> content = tree.read(base::Path::known(path), kLargestSystemFile);
        if (!content) continue;
        for (std::string_view line : base::split(*content, '\n')) {
            if (!line.starts_with(kKey)) continue;
            std::string_view value = base::trim(line.substr(kKey.size()));
            bool is_quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
                             value.back() == value.front();
            return std::string(is_quoted ? value.substr(1, value.size() - 2) : value);
        }
    }
    return {};
}

// Only root may list the loaded profiles. A profile file that exists and is not disabled counts as loaded.
bool has_apparmor_profile_for_bwrap(const Tree& tree) {
    const base::Path profiles = base::Path::known("/etc/apparmor.d");
    return std::ranges::any_of(tree.list(profiles), [&](const Entry& entry) {
        bool is_profile = entry.kind == Kind::file || entry.kind == Kind::symlink;
        return is_profile && entry.name.starts_with("bwrap") && !tree.look(profiles / "disable" / entry.name);
    });
}

NamespaceObstacle find_namespace_obstacle(const Tree& tree, const Facts& facts) {
    if (!exists(tree, "/proc/self/ns/user")) return NamespaceObstacle::not_built_in;
    if (read_word(tree, "/proc/sys/user/max_user_namespaces") == "0") return NamespaceObstacle::limit_is_zero;
    if (read_word(tree, "/proc/sys/kernel/unprivileged_userns_clone") == "0")
        return NamespaceObstacle::clone_is_restricted;
    bool is_closed = facts.apparmor_restricts_user_namespaces && !facts.apparmor_profile_for_bwrap;
    return is_closed ? NamespaceObstacle::apparmor : NamespaceObstacle::none;
}

std::string_view cause_for_person(NamespaceObstacle obstacle) {
    switch (obstacle) {
        case NamespaceObstacle::none:
            return "";
        case NamespaceObstacle::not_built_in:
            return "this kernel is built without user namespaces";
        case NamespaceObstacle::limit_is_zero:
            return "user.max_user_namespaces is 0";
        case NamespaceObstacle::clone_is_restricted:
            return "kernel.unprivileged_userns_clone is 0";
        case NamespaceObstacle::apparmor:
            return "kernel.apparmor_restrict_unprivileged_userns is 1 and no AppArmor profile for bwrap is "
                   "in /etc/apparmor.d";
    }
    return "";
}

struct DeviceNodes {
    std::string_view directory;
    std::string_view pattern;
};

constexpr DeviceNodes kGpuNodes[] = {{"/dev", "nvidia*"}, {"/dev", "kfd"}, {"/dev/dri", "renderD*"}};

std::vector<std::string> find_gpu_devices(const Tree& tree) {
    std::vector<std::string> found;
    for (const DeviceNodes& nodes : kGpuNodes) {
        const base::Path directory = base::Path::known(nodes.directory);
        for (const Entry& entry : tree.list(directory)) {
            bool is_node = entry.kind == Kind::device && base::matches_name(nodes.pattern, entry.name);
            if (is_node) found.push_back((directory / entry.name).str());
        }
    }
    return found;
}

int ask_landlock_abi() {
    long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version > 0 ? static_cast<int>(version) : 0;
}

// A kernel without seccomp returns EINVAL. Under a seccomp filter the call either works or the filter has
// already killed the process.
bool ask_seccomp() {
    return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0 || errno != EINVAL;
}

// Why a set-user-ID program does not work here. Under no_new_privs it keeps the caller's user id, and in a
// user namespace that is not the host's its root can't create devices. (tests/admin/closed_namespaces.bats)
std::optional<std::string> find_power_obstacle(const Tree& tree) {
    constexpr std::string_view kOfTheHost = "user:[4026531837]";  // inode of the initial namespace
    if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return "no program gains power here (no_new_privs), as in a container";
    std::optional<Node> own = tree.look(base::Path::known("/proc/self/ns/user"));
    bool is_inside = own && own->kind == Kind::symlink && own->link != kOfTheHost;
    if (is_inside) return "root of a user namespace can't make devices, as in a rootless container";
    return std::nullopt;
}

}  // namespace

void probe_namespaces(const Tree& tree, Facts& facts) {
    facts.apparmor_restricts_user_namespaces =
        read_word(tree, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1";
    // List the directory only where it matters, because every launch runs this.
    facts.apparmor_profile_for_bwrap =
        facts.apparmor_restricts_user_namespaces && has_apparmor_profile_for_bwrap(tree);
    facts.namespace_obstacle = find_namespace_obstacle(tree, facts);
    if (facts.namespace_obstacle != NamespaceObstacle::none) {
        facts.user_namespace_obstacle = cause_for_person(facts.namespace_obstacle);
    }
    probe_own_namespaces(tree, facts);
}

void probe_landlock(Facts& facts) {
    facts.landlock_abi = ask_landlock_abi();
}

void probe_others(const Tree& tree, const std::optional<base::Path>& pinned_firejail, Facts& facts) {
    facts.firejail = find_firejail(tree, pinned_firejail);
    std::optional<std::string> obstacle = find_power_obstacle(tree);
    if (facts.firejail.state == ProgramState::usable && obstacle) {
        facts.firejail.state = ProgramState::not_executable;
        facts.firejail.problem = "firejail can't build a jail: " + *obstacle;
    }
}

void probe_files(const Tree& tree, Facts& facts) {
    facts.os_name = find_os_name(tree);
    probe_namespaces(tree, facts);
    facts.lsm_list = read_word(tree, "/sys/kernel/security/lsm").value_or("");
    facts.ptrace_scope =
        std::atoi(read_word(tree, "/proc/sys/kernel/yama/ptrace_scope").value_or("0").c_str());
    facts.has_cgroup_namespace = exists(tree, "/proc/self/ns/cgroup");
    facts.gpu_devices = find_gpu_devices(tree);
}

void probe_details(Facts& facts) {
    probe_files(DiskTree(), facts);
    probe_landlock(facts);
    facts.has_seccomp = ask_seccomp();
}

std::string_view to_text(NamespaceObstacle obstacle) {
    switch (obstacle) {
        case NamespaceObstacle::none:
            return "none";
        case NamespaceObstacle::not_built_in:
            return "not-built-in";
        case NamespaceObstacle::limit_is_zero:
            return "limit-is-zero";
        case NamespaceObstacle::clone_is_restricted:
            return "clone-is-restricted";
        case NamespaceObstacle::apparmor:
            return "apparmor";
    }
    return "";
}

}  // namespace host
