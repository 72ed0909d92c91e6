// SPDX-License-Identifier: MIT
#include "selftest/planted/planted_ipc.h"

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
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "base/file.h"
#include "base/format.h"
#include "base/text.h"

namespace selftest {
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

}  // namespace selftest
