// SPDX-License-Identifier: MIT
// The system's own files: paths that the jail does not show, paths that it shows read-only, and kernel
// interfaces that root would use outside.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

#include "base/format.h"
#include "base/inside/paths_inside.h"
#include "base/text.h"
#include "selftest/attempt.h"
#include "selftest/catalogue.h"

namespace selftest {
namespace {

constexpr std::string_view kNotHere = "this host has no such thing";

struct PlantedPlace {
    std::string_view name;
    const char* path;
};

constexpr PlantedPlace kAbsent[] = {
    {"var-lib", "/var/lib"},
    {"var-log", "/var/log"},
    {"mail-spool", "/var/spool"},
    {"root-home", "/root"},
    {"services", "/srv"},
    {"mounted-disks", "/mnt"},
    {"removable-disks", "/media"},
    {"boot", "/boot"},
    {"kernel-settings", "/sys/kernel"},
    {"control-groups", "/sys/fs/cgroup"},
    {"system-bus", "/run/dbus"},
    {"run-time-users", "/run/user"},
    {"locks", "/run/lock"},
};

// Outside, file permissions refuse an ordinary user as well; inside, the mount already refuses.
constexpr PlantedPlace kReadOnly[] = {
    {"usr", "/usr"}, {"etc", "/etc"}, {"root-directory", "/"}, {"run", "/run"}, {"dev", "/dev"},
};

constexpr PlantedPlace kKernelFiles[] = {
    {"core-pattern", "/proc/sys/kernel/core_pattern"},
    {"module-loader", "/proc/sys/kernel/modprobe"},
    {"forwarding", "/proc/sys/net/ipv4/ip_forward"},
    {"memory-policy", "/proc/sys/vm/overcommit_memory"},
    {"magic-keys", "/proc/sysrq-trigger"},
    {"event-helper", "/sys/kernel/uevent_helper"},
    {"binary-formats", "/proc/sys/fs/binfmt_misc/register"},
    {"release-agent", "/sys/fs/cgroup/release_agent"},
};

constexpr PlantedPlace kDevices[] = {
    {"physical-memory", "/dev/mem"}, {"kernel-log", "/dev/kmsg"},      {"first-disk", "/dev/sda"},
    {"virtual-disk", "/dev/vda"},    {"loop-device", "/dev/loop0"},    {"fuse", "/dev/fuse"},
    {"tunnel", "/dev/net/tun"},      {"virtual-machines", "/dev/kvm"},
};

// The mount itself refuses writing, independent of the owner of the files.
Finding mounted_writable(const char* path) {
    struct statvfs status;
    if (::statvfs(path, &status) != 0) return held(errno);
    return status.f_flag & ST_RDONLY ? held("read-only mount") : escaped("the mount can be written");
}

// A directory above the project exists in the jail, and contains only the way to the project.
Finding see_place(const World& world, const std::string& path) {
    if (world.root.starts_with(path + "/")) return absent("the scratch directory lies in it");
    return see(path);
}

Finding see_account(const World&) {
    std::string accounts = content_of("/etc/passwd");
    if (accounts.empty()) return held(errno);
    for (std::string_view line : base::split(accounts, '\n')) {
        std::vector<std::string_view> fields = base::split(line, ':');
        if (fields.size() < 7) continue;
        long uid = std::atol(std::string(fields[2]).c_str());
        bool is_person = uid >= 1000 && uid < 60000;
        if (is_person && uid != static_cast<long>(::getuid())) return escaped("another account is named");
    }
    return held("system accounts and the caller's only");
}

// The program of pid 1, which the host will run again later.
Finding overwrite_program(const World& world) {
    if (!world.is_inside) return mounted_writable("/proc/self/exe");
    return mounted_writable(base::own_path(base::kOwnProgram).c_str());
}

Finding make_device(const World& world) {
    std::string path = world.project + "/device";
    long made = ::mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 1));
    int error = errno;
    ::unlink(path.c_str());
    errno = error;
    return outcome(made, "a device was made");
}

std::string group(std::string_view name) {
    return "files/" + std::string(name);
}

}  // namespace

void add_places(Probes& probes) {
    for (const PlantedPlace& place : kAbsent) {
        probes.push_back(
            {.name = group("place-" + std::string(place.name)),
             .what = "looks for " + std::string(place.path),
             .attempt = [path = place.path](const World& world) { return see_place(world, path); },
             .excuse = kNotHere});
    }
    for (const PlantedPlace& place : kReadOnly) {
        probes.push_back({.name = group("write-" + std::string(place.name)),
                          .what = base::format("finds {} on a mount that can be written", place.path),
                          .attempt = [path = place.path](const World&) { return mounted_writable(path); },
                          .excuse = "it is mounted read-only outside, too"});
    }
    for (const PlantedPlace& place : kKernelFiles) {
        probes.push_back({.name = group("kernel-" + std::string(place.name)),
                          .what = base::format("opens {} for writing", place.path),
                          .attempt = [path = place.path](const World&) { return open_for_writing(path); },
                          .excuse = kNeedsRoot});
    }
    for (const PlantedPlace& place : kDevices) {
        probes.push_back({.name = group("device-" + std::string(place.name)),
                          .what = "looks for " + std::string(place.path),
                          .attempt = [path = place.path](const World&) { return see(path); },
                          .excuse = kNotHere});
    }
    probes.push_back({.name = group("device-made"),
                      .what = "makes a node for the machine's memory in the project",
                      .attempt = make_device,
                      .excuse = kNeedsRoot});
    probes.push_back({.name = group("other-home"),
                      .what = "looks for the home directory of another user",
                      .attempt = [](const World& world) {
                          return world.other_home.empty() ? absent("no other user's home here")
                                                          : see(world.other_home);
                      }});
    probes.push_back({.name = group("accounts"),
                      .what = "enumerates other people's accounts",
                      .attempt = see_account,
                      .excuse = "this host's file names no other user",
                      .permitted_by = "isolation.filter_passwd=false"});
    probes.push_back({.name = group("password-hashes"),
                      .what = "reads /etc/shadow",
                      .attempt =
                          [](const World&) {
                              return content_of("/etc/shadow").empty() ? held(errno) : escaped("it was read");
                          },
                      .excuse = kNeedsRoot});
    probes.push_back({.name = group("own-program"),
                      .what = "finds the sandbox's own program on a mount that can be written",
                      .attempt = overwrite_program,
                      .excuse = "it is mounted read-only outside, too"});
}

}  // namespace selftest
