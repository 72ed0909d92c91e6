// SPDX-License-Identifier: MIT
#include "selftest/planted/world.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/text.h"
#include "selftest/runner.h"

namespace selftest {
namespace {

struct TextField {
    std::string_view name;
    std::string World::*member;
};
constexpr TextField kTexts[] = {
    {"secret", &World::secret},
    {"root", &World::root},
    {"home", &World::home},
    {"project", &World::project},
    {"neighbour", &World::neighbour},
    {"namespaces", &World::namespaces},
    {"handle", &World::handle},
    {"left_out", &World::left_out},
    {"home_socket", &World::home_socket},
    {"temporary_socket", &World::temporary_socket},
    {"abstract_socket", &World::abstract_socket},
    {"temporary_file", &World::temporary_file},
    {"shared_memory", &World::shared_memory},
    {"message_queue", &World::message_queue},
    {"terminal", &World::terminal},
    {"other_home", &World::other_home},
    {"address", &World::address},
    {"source", &World::source},
    {"authority", &World::authority},
};

struct NumberField {
    std::string_view name;
    int64_t World::*member;
};
constexpr NumberField kNumbers[] = {
    {"process", &World::process},
    {"guardian", &World::guardian},
    {"memory_id", &World::memory_id},
    {"semaphore_id", &World::semaphore_id},
    {"queue_id", &World::queue_id},
    {"ipc_key", &World::ipc_key},
    {"key", &World::key},
    {"tcp_port", &World::tcp_port},
    {"tcp6_port", &World::tcp6_port},
    {"udp_port", &World::udp_port},
    {"address_port", &World::address_port},
    {"bound_port", &World::bound_port},
    {"other_port", &World::other_port},
    {"is_inside", &World::is_inside},
};

}  // namespace

bool is_left_out(const World& world, std::string_view path) {
    return !path.empty() && world.left_out.find(base::format("|{}|", path)) != std::string::npos;
}

base::Json to_json(const World& world) {
    base::Json json = base::Json::object();
    for (const TextField& field : kTexts) json.set(std::string(field.name), world.*field.member);
    for (const NumberField& field : kNumbers) json.set(std::string(field.name), world.*field.member);
    return json;
}

base::Result<World> world_from_json(std::string_view text) {
    base::Result<base::Json> json = base::Json::parse(text);
    if (!json) return json.error();
    World world;
    for (const TextField& field : kTexts) world.*field.member = json->text(field.name);
    for (const NumberField& field : kNumbers) world.*field.member = json->number(field.name);
    if (world.secret.empty()) return base::Error{.what = "the description of the probes' world is damaged"};
    return world;
}

namespace {

constexpr size_t kSegmentSize = 4096;

struct Message {
    long type = 1;
    char text[64] = {};
};

void plant_system_v(World& world) {
    world.ipc_key = 0x5e1f0000 | (::getpid() & 0xffff);
    auto key = static_cast<key_t>(world.ipc_key);
    world.memory_id = ::shmget(key, kSegmentSize, IPC_CREAT | IPC_EXCL | 0600);
    if (world.memory_id < 0) {
        // The other world of this process already uses this key.
        key = static_cast<key_t>(world.ipc_key ^= 0x1000000);
        world.memory_id = ::shmget(key, kSegmentSize, IPC_CREAT | IPC_EXCL | 0600);
    }
    if (world.memory_id >= 0) {
        void* place = ::shmat(static_cast<int>(world.memory_id), nullptr, 0);
        if (reinterpret_cast<intptr_t>(place) != -1) {
            std::memcpy(place, world.secret.c_str(), world.secret.size() + 1);
            ::shmdt(place);
        }
    }
    world.semaphore_id = ::semget(key, 1, IPC_CREAT | IPC_EXCL | 0600);
    world.queue_id = ::msgget(key, IPC_CREAT | IPC_EXCL | 0600);
    Message message;
    world.secret.copy(message.text, sizeof message.text - 1);
    if (world.queue_id >= 0)
        ::msgsnd(static_cast<int>(world.queue_id), &message, sizeof message.text, IPC_NOWAIT);
}

void plant_queue(World& world, const std::string& tag) {
    struct mq_attr shape = {};
    shape.mq_maxmsg = 2;
    shape.mq_msgsize = 128;
    world.message_queue = "/" + tag;
    mqd_t queue = ::mq_open(world.message_queue.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &shape);
    if (queue == static_cast<mqd_t>(-1)) {
        world.message_queue.clear();
        return;
    }
    ::mq_send(queue, world.secret.data(), world.secret.size(), 0);
    ::mq_close(queue);
}

// In the user keyring, readable by every process of the same user.
void plant_key(World& world, const std::string& tag) {
    constexpr unsigned long kUserMayRead = 0x3f3f0000;
    long key = ::syscall(SYS_add_key, "user", tag.c_str(), world.secret.data(), world.secret.size(),
                         KEY_SPEC_USER_KEYRING);
    if (key < 0) return;
    ::syscall(SYS_keyctl, KEYCTL_SETPERM, key, kUserMayRead);
    world.key = key;
}

void plant_outside_files(World& world, const std::string& tag) {
    world.temporary_file = base::format("/tmp/{}.secret", tag);
    world.shared_memory = "/dev/shm/" + tag;
    for (std::string World::*place : {&World::temporary_file, &World::shared_memory}) {
        if (!base::write_file_atomically(world.*place, world.secret)) (world.*place).clear();
    }
}

std::string own_address() {
    struct ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return {};
    std::string found;
    for (const struct ifaddrs* entry = list; entry != nullptr && found.empty(); entry = entry->ifa_next) {
        bool is_usable = entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == AF_INET &&
                         (entry->ifa_flags & IFF_UP) && !(entry->ifa_flags & IFF_LOOPBACK);
        if (!is_usable) continue;
        char text[INET_ADDRSTRLEN] = {};
        const auto* address = reinterpret_cast<const struct sockaddr_in*>(entry->ifa_addr);
        if (::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text)) found = text;
    }
    ::freeifaddrs(list);
    return found;
}

// The first existing home directory in /home that belongs to another user.
std::string other_home() {
    base::Result<std::string> accounts = base::read_file("/etc/passwd");
    if (!accounts) return {};
    for (std::string_view line : base::split(*accounts, '\n')) {
        std::vector<std::string_view> fields = base::split(line, ':');
        if (fields.size() < 7 || !fields[5].starts_with("/home/")) continue;
        std::string home(fields[5]);
        struct stat status;
        bool is_there = ::stat(home.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
        if (is_there && status.st_uid != ::getuid()) return home;
    }
    return {};
}

}  // namespace

void plant_ipc(World& world, const std::string& tag) {
    plant_system_v(world);
    plant_queue(world, tag);
    plant_key(world, tag);
    plant_outside_files(world, tag);
}

void remove_ipc(const World& world) {
    if (world.memory_id >= 0) ::shmctl(static_cast<int>(world.memory_id), IPC_RMID, nullptr);
    if (world.semaphore_id >= 0) ::semctl(static_cast<int>(world.semaphore_id), 0, IPC_RMID);
    if (world.queue_id >= 0) ::msgctl(static_cast<int>(world.queue_id), IPC_RMID, nullptr);
    if (!world.message_queue.empty()) ::mq_unlink(world.message_queue.c_str());
    if (world.key > 0) ::syscall(SYS_keyctl, KEYCTL_UNLINK, world.key, KEY_SPEC_USER_KEYRING);
}

void describe_host(World& world) {
    for (const char* name : {"mnt", "pid", "ipc", "uts", "cgroup", "user", "net"}) {
        char text[64] = {};
        std::string link = std::string("/proc/self/ns/") + name;
        if (::readlink(link.c_str(), text, sizeof text - 1) > 0) world.namespaces += std::string(text) + " ";
    }
    world.address = own_address();
    world.other_home = other_home();
}

// The system's own files: paths that the jail does not show, paths that it shows read-only, and kernel
// interfaces that root would use outside.

namespace {

constexpr std::string_view kNotHere = "this host has no such thing";

struct PlantedPlace {
    std::string_view name;
    const char* path;
};

constexpr PlantedPlace kAbsent[] = {
    {"var-lib", "/var/lib/misc"},
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
