// SPDX-License-Identifier: MIT
// Channels between processes that are not files of the home directory: shared memory, queues, sockets, keys.
#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/file.h"
#include "selftest/runner.h"

namespace selftest {
namespace {

constexpr std::string_view kNoIpc = "this kernel has no such objects";
constexpr std::string_view kNoService = "no such service on this host";
constexpr std::string_view kSharedIpc = "isolation.private_ipc=false";

Finding read_segment(const World& world, int id) {
    if (id < 0) return held(errno);
    void* place = ::shmat(id, nullptr, SHM_RDONLY);
    if (reinterpret_cast<intptr_t>(place) == -1) return held(errno);
    std::string_view text(static_cast<const char*>(place), world.secret.size());
    return text == world.secret ? escaped("the secret was read") : held("another segment");
}

Finding use_semaphore(const World& world) {
    return outcome(::semctl(static_cast<int>(world.semaphore_id), 0, GETVAL), "its value was read");
}

Finding use_queue(const World& world) {
    struct msqid_ds status;
    return outcome(::msgctl(static_cast<int>(world.queue_id), IPC_STAT, &status), "it was opened");
}

Finding read_message_queue(const World& world) {
    if (world.message_queue.empty()) return absent("no POSIX queues here");
    mqd_t queue = ::mq_open(world.message_queue.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (queue == static_cast<mqd_t>(-1)) return held(errno);
    ::mq_close(queue);
    return escaped("it was opened");
}

Finding read_key(const World& world) {
    if (world.key <= 0) return absent("no key could be made here");
    char bytes[128];
    long got = ::syscall(SYS_keyctl, KEYCTL_READ, world.key, bytes, sizeof bytes);
    return outcome(got, "the key was read");
}

Finding search_keyring(const World& world) {
    if (world.key <= 0) return absent("no key could be made here");
    std::string name = world.root.substr(world.root.rfind('/') + 1);
    long found = ::syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", name.c_str(), 0);
    return outcome(found, "the key was found");
}

Finding list_keys(const World& world) {
    if (world.key <= 0) return absent("no key could be made here");
    std::string keys = content_of("/proc/keys"), name = world.root.substr(world.root.rfind('/') + 1);
    return keys.find(name) != std::string::npos ? escaped("the caller's key is listed") : held("not listed");
}

// /proc/net/unix lists the sockets of this process's network namespace, which is the host's. Programs of the
// host can find a socket that is listed.
Finding offer_name(const World& world) {
    std::string name = world.root.substr(world.root.rfind('/') + 1) + "-offered";
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), std::min(name.size(), sizeof address.sun_path - 1));
    base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    auto length = static_cast<socklen_t>(offsetof(struct sockaddr_un, sun_path) + 1 + name.size());
    bool is_bound = ::bind(socket.get(), reinterpret_cast<struct sockaddr*>(&address), length) == 0;
    if (!is_bound || ::listen(socket.get(), 1) != 0) return held(errno);
    bool is_listed = content_of("/proc/net/unix").find("@" + name) != std::string::npos;
    return is_listed ? escaped("programs of the host find it") : held("only the jail finds it");
}

struct Service {
    std::string_view name;
    const char* path;
};
constexpr Service kServices[] = {
    {"docker", "/run/docker.sock"},
    {"podman", "/run/podman/podman.sock"},
    {"containerd", "/run/containerd/containerd.sock"},
    {"system-bus", "/run/dbus/system_bus_socket"},
    {"systemd", "/run/systemd/private"},
    {"journal", "/run/systemd/journal/socket"},
    {"munge", "/run/munge/munge.socket.2"},
    {"snapd", "/run/snapd.socket"},
    {"screen", "/tmp/.X11-unix"},
};

}  // namespace

void add_ipc(Probes& probes) {
    auto add = [&](const std::string& name, const std::string& what, Attempt attempt,
                   std::string_view excuse = {}, std::string_view permitted_by = {},
                   Scenario scenario = Scenario::standard) {
        probes.push_back({.name = "ipc/" + name,
                          .what = what,
                          .attempt = std::move(attempt),
                          .scenario = scenario,
                          .excuse = excuse,
                          .permitted_by = permitted_by});
    };
    add(
        "shared-memory", "attaches shared memory of the caller by its number",
        [](const World& world) { return read_segment(world, static_cast<int>(world.memory_id)); }, kNoIpc,
        kSharedIpc);
    add(
        "shared-memory-by-key", "attaches shared memory of the caller by its key",
        [](const World& world) {
            return read_segment(world, ::shmget(static_cast<key_t>(world.ipc_key), 0, 0));
        },
        kNoIpc, kSharedIpc);
    add("semaphore", "reads a semaphore of the caller", use_semaphore, kNoIpc, kSharedIpc);
    add("queue", "opens a System V queue of the caller", use_queue, kNoIpc, kSharedIpc);
    add("message-queue", "opens a POSIX queue of the caller", read_message_queue, {}, kSharedIpc);
    add(
        "shared-memory-file", "reads a secret in the host's /dev/shm",
        [](const World& world) {
            if (world.shared_memory.empty()) return absent("no /dev/shm here");
            return read_secret(world, world.shared_memory);
        },
        {}, kSharedIpc);
    add("home-socket", "talks to a service in the home directory",
        [](const World& world) { return connect_to_unix(world, world.home_socket); });
    add(
        "temporary-socket", "talks to a service in /tmp",
        [](const World& world) { return connect_to_unix(world, world.temporary_socket); }, {},
        "isolation.private_tmp=false");
    Attempt abstract = [](const World& world) { return connect_to_unix(world, world.abstract_socket); };
    add("abstract-socket", "talks to a service that has no file", abstract, {}, "network.mode=open");
    add("abstract-socket-open-network", "talks to a service that has no file, on an open network", abstract,
        {}, {}, Scenario::open_network);
    add("abstract-name-open-network", "offers a service without a file to programs of the host", offer_name,
        {}, {}, Scenario::open_network);
    for (const Service& service : kServices) {
        add(
            "service-" + std::string(service.name), "looks for the socket " + std::string(service.path),
            [path = service.path](const World&) { return see(path); }, kNoService);
    }
    constexpr std::string_view kKeyrings = "isolation.allow_keyrings=true";
    add("key", "reads a key in the caller's keyring", read_key, {}, kKeyrings);
    add("key-search", "searches the caller's keyring", search_keyring, {}, kKeyrings);
    add("key-listing", "looks for the caller's keys in /proc/keys", list_keys,
        "this kernel does not list keys", kKeyrings);
}

// Text that is typed into the caller's terminal runs in the caller's shell. The probes have their own
// terminal as standard input and as controlling terminal, like a command that a user starts.

namespace {

constexpr std::string_view kNoTyping = "this kernel refuses it to everyone (dev.tty.legacy_tiocsti)";

Finding type_into(int terminal, unsigned long request) {
    char letter = ' ';
    return outcome(::syscall(SYS_ioctl, terminal, request, &letter), "a letter was typed");
}

Finding type_into_controlling(const World&) {
    base::Fd terminal(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
    return terminal ? type_into(terminal.get(), TIOCSTI) : held(errno);
}

// Adds a row, and removes it again.
Finding resize(const World&) {
    struct winsize before = {};
    if (::ioctl(STDIN_FILENO, TIOCGWINSZ, &before) != 0) return held(errno);
    struct winsize changed = before;
    ++changed.ws_row;
    int result = ::ioctl(STDIN_FILENO, TIOCSWINSZ, &changed);
    Finding finding = outcome(result, "it has one row more");
    if (result == 0) ::ioctl(STDIN_FILENO, TIOCSWINSZ, &before);
    return finding;
}

Finding use_console_call(const World&) {
    // "Paste the selection" of a text console.
    char subcode = 3;
    int result = ::ioctl(STDIN_FILENO, TIOCLINUX, &subcode);
    if (result < 0 && errno == ENOTTY) return held("ENOTTY: not refused, but without meaning here");
    return outcome(result, "the console obeyed");
}

}  // namespace

void add_terminal(Probes& probes) {
    auto add = [&](const std::string& name, const std::string& what, Attempt attempt,
                   std::string_view excuse = {}) {
        probes.push_back(
            {.name = "terminal/" + name, .what = what, .attempt = std::move(attempt), .excuse = excuse});
    };
    add(
        "type", "types into the terminal with TIOCSTI",
        [](const World&) { return type_into(STDIN_FILENO, TIOCSTI); }, kNoTyping);
    add(
        "type-high-bits", "types with TIOCSTI and bits set that the kernel does not look at",
        [](const World&) { return type_into(STDIN_FILENO, TIOCSTI | 1ul << 32); }, kNoTyping);
    add("type-controlling", "types into /dev/tty with TIOCSTI", type_into_controlling, kNoTyping);
    add("size", "changes the size of the terminal", resize);
    add("console", "pastes into a text console with TIOCLINUX", use_console_call, "needs a text console");
    add("other-terminal", "opens another terminal of the caller", [](const World& world) {
        base::Fd terminal(::open(world.terminal.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
        return outcome(terminal.get(), "it was opened");
    });
    add("other-terminal-seen", "looks for another terminal of the caller",
        [](const World& world) { return see(world.terminal); });
    for (const char* path : {"/dev/tty1", "/dev/vcs1", "/dev/uinput"}) {
        add(
            "device-" + std::string(path + 5), "looks for " + std::string(path),
            [path](const World&) { return see(path); }, "this host has no such thing");
    }
}

}  // namespace selftest
