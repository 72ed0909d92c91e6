// SPDX-License-Identifier: MIT
// Details of the machine for the facts: the system, and the identity of the caller.
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/path.h"
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

// The C library's account functions load name-service modules at run time, which a static program must not
// do. So this code reads the files itself. For users of a directory service it uses the caller's own
// variables, as far as they agree with the disk.

namespace {

constexpr size_t kLargestDatabase = 64u << 20;
constexpr size_t kLongestName = 256;

// The field of a line of passwd(5) or group(5), counted from 0; empty where the line is shorter. It allocates
// nothing, because every launch reads these files.
std::string_view field(std::string_view line, size_t index) {
    for (; index > 0; --index) {
        size_t colon = line.find(':');
        if (colon == std::string_view::npos) return {};
        line.remove_prefix(colon + 1);
    }
    return line.substr(0, line.find(':'));
}

struct Database {
    std::string_view text;
    std::ptrdiff_t colons;  // in a complete line
};

// name:password:uid:gid:comment:home:shell
constexpr size_t kName = 0, kUid = 2, kHome = 5, kShell = 6;
constexpr std::ptrdiff_t kPasswdColons = 6;
// name:password:gid:members
constexpr size_t kGid = 2;
constexpr std::ptrdiff_t kGroupColons = 3;

// The first complete line whose field has this text; empty where no line matches.
std::string_view find_line(const Database& database, size_t index, std::string_view text) {
    for (std::string_view rest = database.text; !rest.empty();) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        if (field(line, index) == text && std::ranges::count(line, ':') >= database.colons) return line;
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
    return {};
}

// Empty where the machine has no such file (a minimal container); then everything comes from the variables.
std::string read_database(const Tree& tree, std::string_view path) {
    base::Result<std::string> content = tree.read(base::Path::known(path), kLargestDatabase);
    return content ? *std::move(content) : std::string();
}

// A group without a name gets its number as name, as in ls(1).
std::string group_name(const Database& groups, uint32_t gid) {
    std::string number = std::to_string(gid);
    std::string_view line = find_line(groups, kGid, number);
    return line.empty() ? number : std::string(field(line, kName));
}

// The name becomes part of a line of the jail's passwd: it must not contain a character that ends a field or
// a line.
bool is_plain_name(std::string_view name) {
    bool has_plain_letters = std::ranges::all_of(
        name, [](char letter) { return letter > ' ' && letter != 0x7f && letter != ':' && letter != '/'; });
    return !name.empty() && name.size() <= kLongestName && name.front() != '-' && name.front() != '+' &&
           has_plain_letters;
}

// An absolute path to a directory that the caller owns.
std::optional<base::Path> own_directory(const Tree& tree, uint32_t uid, std::string_view text) {
    base::Result<base::Path> home = base::Path::parse(text);
    if (!home || home->is_root()) return std::nullopt;
    std::optional<Node> node = tree.look_through(*home);
    bool is_own = node && node->kind == Kind::directory && node->owner == uid;
    return is_own ? std::optional(*home) : std::nullopt;
}

std::string shell_of_variable(const Tree& tree, const Variables& environment) {
    base::Result<base::Path> shell = base::Path::parse(variable(environment, "SHELL").value_or(""));
    std::optional<Node> node = shell ? tree.look_through(*shell) : std::nullopt;
    return node && node->kind == Kind::file ? shell->str() : "/bin/sh";
}

// Rejects a name that the files give to another user.
std::string name_of_variables(const Database& passwd, const base::Path& home, const Variables& environment) {
    std::string_view candidates[] = {variable(environment, "USER").value_or(""),
                                     variable(environment, "LOGNAME").value_or(""), home.name()};
    for (std::string_view name : candidates) {
        if (is_plain_name(name) && find_line(passwd, kName, name).empty()) return std::string(name);
    }
    return {};
}

base::Error unknown_user(uint32_t uid, const Variables& environment) {
    std::string_view home = variable(environment, "HOME").value_or("");
    std::string found =
        home.empty() ? "HOME is not set" : base::format("HOME={} is not a directory of that user", home);
    return base::Error{
        .what = base::format("cannot tell who uid {} is: /etc/passwd does not say, and {}", uid, found),
        .advice = "set HOME to your home directory and USER to your name"};
}

}  // namespace

std::optional<std::string_view> variable(const Variables& environment, std::string_view name) {
    for (std::string_view entry : environment) {
        if (entry.starts_with(name) && entry.substr(name.size()).starts_with('='))
            return entry.substr(name.size() + 1);
    }
    return std::nullopt;
}

base::Result<Identity> probe_identity(const Tree& tree, uint32_t uid, uint32_t gid,
                                      const Variables& environment) {
    std::string passwd = read_database(tree, "/etc/passwd");
    std::string groups = read_database(tree, "/etc/group");
    const Database accounts{passwd, kPasswdColons};

    Identity identity{.uid = uid, .gid = gid};
    identity.group = group_name({groups, kGroupColons}, gid);
    std::optional<base::Path> home = own_directory(tree, uid, variable(environment, "HOME").value_or(""));

    if (std::string_view account = find_line(accounts, kUid, std::to_string(uid)); !account.empty()) {
        base::Result<base::Path> listed = base::Path::parse(field(account, kHome));
        if (!home && !listed) return unknown_user(uid, environment);
        identity.user = field(account, kName);
        identity.shell = field(account, kShell).empty() ? "/bin/sh" : field(account, kShell);
        identity.home = home ? *home : *listed;
        return identity;
    }
    if (!home) return unknown_user(uid, environment);
    identity.home = *home;
    identity.user = name_of_variables(accounts, *home, environment);
    identity.shell = shell_of_variable(tree, environment);
    if (identity.user.empty()) return unknown_user(uid, environment);
    return identity;
}

std::optional<base::Path> account_home(const Tree& tree, uint32_t uid) {
    std::string passwd = read_database(tree, "/etc/passwd");
    std::string_view account = find_line({passwd, kPasswdColons}, kUid, std::to_string(uid));
    return account.empty() ? std::nullopt : own_directory(tree, uid, field(account, kHome));
}

base::Result<Identity> probe_identity(const Variables& environment) {
    return probe_identity(DiskTree(), ::getuid(), ::getgid(), environment);
}

}  // namespace host
